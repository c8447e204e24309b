#include "worker_pool.h"

namespace voxshell_bullet
{
WorkerPool::WorkerPool(int threads)
{
	for (int i = 1; i < threads; ++i)
		m_threads.emplace_back([this] { serve(); });
}

WorkerPool::~WorkerPool()
{
	{
		const std::lock_guard<std::mutex> lock(m_mutex);
		m_stop = true;
	}
	m_begin.notify_all();
	for (std::thread& thread : m_threads)
		thread.join();
}

void WorkerPool::run(size_t count, Work work, void* user)
{
	{
		const std::lock_guard<std::mutex> lock(m_mutex);
		m_next.store(0, std::memory_order_relaxed);
		m_count = count;
		m_work = work;
		m_user = user;
		m_busy = int(m_threads.size());
		++m_loop;
	}
	m_begin.notify_all();
	take_items();
	std::unique_lock<std::mutex> lock(m_mutex);
	m_end.wait(lock, [this] { return m_busy == 0; });
}

void WorkerPool::serve()
{
	unsigned long long done = 0;
	for (;;)
	{
		{
			std::unique_lock<std::mutex> lock(m_mutex);
			m_begin.wait(lock, [&] { return m_stop || m_loop != done; });
			if (m_stop)
				return;
			done = m_loop;
		}
		take_items();
		const std::lock_guard<std::mutex> lock(m_mutex);
		if (--m_busy == 0)
			m_end.notify_one();
	}
}

void WorkerPool::take_items()
{
	for (size_t item; (item = m_next.fetch_add(1, std::memory_order_relaxed)) < m_count;)
		m_work(m_user, item);
}
}  // namespace voxshell_bullet
