// A measured table of docs/bullet-tables.md: each row is checked against its bound, and the document against the rows.
// VOXSHELL_UPDATE_DOCS=1 rewrites the table in the document; otherwise the document must have the same rows, bounds and
// notes. The measured digits differ between machines and are not compared.
#ifndef VOXSHELL_TEST_TABLE_H
#define VOXSHELL_TEST_TABLE_H

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"

inline std::string text(const char* format, ...)
{
	char buffer[512];
	va_list arguments;
	va_start(arguments, format);
	std::vsnprintf(buffer, sizeof buffer, format, arguments);
	va_end(arguments);
	return buffer;
}

/// Answers of both sides over many poses.
struct Differences
{
	double largest = 0, stock = 0, ours = 0;  // the last two at the pose of the largest difference
	int count = 0;

	void take(double by_stock, double by_ours)
	{
		const double difference = std::fabs(by_stock - by_ours);
		if (count++ == 0 || !(difference <= largest))
			largest = difference, stock = by_stock, ours = by_ours;
	}
};

class Table
{
public:
	/// @param name  the document has `<!-- begin name -->` and `<!-- end name -->` around the table
	explicit Table(const char* name) : m_name(name) {}

	/// @param unit   value of one printed unit: 1e-3 for millimetres, 1 for plain numbers
	/// @param bound  limit of the largest difference, in the unit of the differences themselves
	void add(const std::string& row, const Differences& d, double bound, double unit, const std::string& note)
	{
		if (d.count == 0 || !(d.largest <= bound))
		{
			std::printf("%s: stock %g, ours %g: they differ by %g after %d comparisons, bound %g\n", row.c_str(), d.stock, d.ours, d.largest, d.count, bound);
			++failures();
		}
		m_rows.push_back({row, number(d.stock / unit) + " | " + number(d.ours / unit) + " | " + number(d.largest / unit), text("%.3g", bound / unit), note});
	}
	/// Adds a row for which one side gives no answer, by design.
	void add_silent(const std::string& row, const std::string& note) { m_rows.push_back({row, "– | – | –", "–", note}); }

	/// Writes or checks the document.
	void finish() const
	{
		const std::string path = std::string(VOXSHELL_SOURCE_DIR) + "/docs/bullet-tables.md";
		const std::string begin = "<!-- begin " + m_name + " -->\n", end = "<!-- end " + m_name + " -->\n";
		std::stringstream contents;
		contents << std::ifstream(path).rdbuf();
		std::string document = contents.str();
		const size_t from = document.find(begin), to = document.find(end);
		if (from == std::string::npos || to == std::string::npos || to < from)
		{
			std::printf("%s: the marks around %s are not there\n", path.c_str(), m_name.c_str());
			++failures();
			return;
		}
		const size_t start = from + begin.size();
		const std::string old = document.substr(start, to - start);
		if (std::getenv("VOXSHELL_UPDATE_DOCS"))
		{
			document.replace(start, to - start, header(old) + body(true));
			std::ofstream(path) << document;
		}
		else if (without_digits(old) != body(false))
		{
			std::printf("%s: %s does not have the rows that were measured; VOXSHELL_UPDATE_DOCS=1 rewrites it\n", path.c_str(), m_name.c_str());
			++failures();
		}
	}

private:
	/// Formats with three decimals, and zero without a sign.
	static std::string number(double value) { return text("%.3f", std::fabs(value) < 5e-4 ? 0.0 : value); }

	struct Row
	{
		std::string name, digits, bound, note;
	};

	/// Returns the two lines above the rows as the document has them.
	static std::string header(const std::string& table)
	{
		const size_t first = table.find('\n');
		return table.substr(0, table.find('\n', first + 1) + 1);
	}
	std::string body(bool digits) const
	{
		std::string lines;
		for (const Row& row : m_rows)
			lines += "| " + row.name + " | " + (digits ? row.digits + " | " : "") + row.bound + " | " + row.note + " |\n";
		return lines;
	}
	/// Returns the rows of a table without columns 2 to 4.
	static std::string without_digits(const std::string& table)
	{
		std::string lines;
		std::istringstream rows(table.substr(header(table).size()));
		for (std::string line; std::getline(rows, line);)
		{
			size_t at[7], count = 0;
			for (size_t i = 0; i < line.size() && count < 7; ++i)
				if (line[i] == '|')
					at[count++] = i;
			if (count == 7)
				lines += line.substr(0, at[1]) + line.substr(at[4]) + "\n";
		}
		return lines;
	}

	std::string m_name;
	std::vector<Row> m_rows;
};

/// Pseudo-random numbers, the same in every run.
class Random
{
public:
	explicit Random(unsigned seed) : m_state(seed * 2654435761u + 1) {}
	/// Returns a number uniform in [low, high].
	double operator()(double low, double high)
	{
		m_state ^= m_state << 13, m_state ^= m_state >> 17, m_state ^= m_state << 5;
		return low + (high - low) * (double(m_state) / 4294967295.0);
	}
	btVector3 direction()
	{
		for (;;)
		{
			const btVector3 v(btScalar((*this)(-1, 1)), btScalar((*this)(-1, 1)), btScalar((*this)(-1, 1)));
			if (v.length2() < 1 && v.length2() > btScalar(0.01))
				return v.normalized();
		}
	}
	btQuaternion rotation() { return btQuaternion(direction(), btScalar((*this)(0, 6.283))); }

private:
	uint32_t m_state;
};

#endif
