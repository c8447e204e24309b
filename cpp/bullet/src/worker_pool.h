// Threads that share the items of a loop. Knows nothing of Bullet.
#ifndef VOXSHELL_BULLET_WORKER_POOL_H
#define VOXSHELL_BULLET_WORKER_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace voxshell_bullet
{
/// The caller's thread and others that sleep between loops.
class WorkerPool
{
public:
	using Work = void (*)(void* user, size_t item);

	/// @param threads  with the caller's, at least 1
	explicit WorkerPool(int threads);
	~WorkerPool();
	WorkerPool(const WorkerPool&) = delete;
	WorkerPool& operator=(const WorkerPool&) = delete;

	int threads() const { return int(m_threads.size()) + 1; }

	/// Calls `work` once for each item below `count`, in any order on any of the threads, and returns when all calls have. `work`
	/// must not throw.
	void run(size_t count, Work work, void* user);

private:
	void serve();
	void take_items();

	std::vector<std::thread> m_threads;
	std::mutex m_mutex;
	std::condition_variable m_begin, m_end;
	unsigned long long m_loop = 0;  // number of the present loop
	int m_busy = 0;                 // threads that have not finished it
	bool m_stop = false;
	std::atomic<size_t> m_next{0};
	size_t m_count = 0;
	Work m_work = nullptr;
	void* m_user = nullptr;
};
}  // namespace voxshell_bullet

#endif
