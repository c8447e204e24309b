//! Tables that read the same in a terminal, in Markdown and in HTML.

use crate::report::page;

/// A head and lines of as many cells. A shorter line ends with a note that has no column.
pub struct Table {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

impl Table {
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), lines: Vec::new() }
    }

    pub fn push(&mut self, line: impl IntoIterator<Item = String>) {
        self.lines.push(line.into_iter().collect());
    }

    /// Returns the table with all lines of `lines`.
    pub fn with<L: IntoIterator<Item = String>>(mut self, lines: impl IntoIterator<Item = L>) -> Self {
        lines.into_iter().for_each(|line| self.push(line));
        self
    }

    /// Returns columns for a terminal, two spaces apart. The first is left-aligned, the last as given, the others are
    /// right-aligned.
    pub fn text(&self, last: Align) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for line in std::iter::once(&self.head).chain(&self.lines) {
            let cell = |(c, cell): (usize, &String)| match c {
                0 => format!("{cell:<0$}", widths[c]),
                _ if c + 1 == widths.len() && last == Align::Left => cell.clone(),
                _ if self.is_note(line, c) => cell.clone(),
                _ => format!("{cell:>0$}", widths[c]),
            };
            let cells: Vec<String> = line.iter().enumerate().map(cell).collect();
            text += cells.join("  ").trim_end();
            text.push('\n');
        }
        text
    }

    pub fn markdown(&self) -> String {
        let widths: Vec<usize> = self.widths().into_iter().map(|w| w.max(3)).collect();
        let line = |cells: &[String]| {
            let cell = |(c, text): (usize, &String)| match c {
                0 => format!(" {text:<0$} |", widths[c]),
                _ => format!(" {text:>0$} |", widths[c]),
            };
            format!("|{}\n", cells.iter().enumerate().map(cell).collect::<String>())
        };
        let rule = |(c, w): (usize, &usize)| match c {
            0 => format!(" {} |", "-".repeat(*w)),
            _ => format!(" {}: |", "-".repeat(*w - 1)),
        };
        let rule = format!("|{}\n", widths.iter().enumerate().map(rule).collect::<String>());
        line(&self.head) + &rule + &self.lines.iter().map(|l| line(l)).collect::<String>()
    }

    pub fn html(&self) -> String {
        let escaped = |cells: &Vec<String>| cells.iter().map(|c| page::escape(c)).collect();
        let lines: Vec<_> = self.lines.iter().map(|l| page::Line { strong: false, cells: escaped(l) }).collect();
        page::table::<String>(&escaped(&self.head), &lines)
    }

    fn is_note(&self, line: &[String], c: usize) -> bool {
        line.len() < self.head.len() && c + 1 == line.len()
    }

    fn widths(&self) -> Vec<usize> {
        let all = || std::iter::once(&self.head).chain(&self.lines);
        let width = |c: usize| {
            let cells = all().filter(|l| c == 0 || !self.is_note(l, c)).filter_map(|l| l.get(c));
            cells.map(|s| s.chars().count()).max().unwrap_or(0)
        };
        (0..self.head.len()).map(width).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_html_is_escaped() {
        let mut table = Table::new(["method", "µs"]);
        table.push(["a < b".into(), "12.5".into()]);
        assert_eq!(table.markdown(), "| method |   µs |\n| ------ | ---: |\n| a < b  | 12.5 |\n");
        assert_eq!(table.text(Align::Right), "method    µs\na < b   12.5\n");
        assert!(table.html().contains("<td>a &lt; b</td><td>12.5</td>"), "{}", table.html());
    }

    #[test]
    fn note_at_the_end_of_a_short_line_has_no_column() {
        let table = Table::new(["name", "a", "b"]).with([vec!["x".to_string(), "skipped: too long".to_string()]]);
        assert_eq!(table.text(Align::Right), "name  a  b\nx     skipped: too long\n");
        assert!(table.html().contains("<td class=\"note\" colspan=\"2\">skipped: too long</td>"));
    }
}
