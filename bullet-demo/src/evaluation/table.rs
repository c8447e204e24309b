//! Small tables that read the same in a terminal, in Markdown and in HTML.

pub struct Table {
    pub head: Vec<String>,
    pub lines: Vec<Vec<String>>,
}

impl Table {
    pub fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|h| h.to_string()).collect(), lines: Vec::new() }
    }

    pub fn push(&mut self, line: Vec<String>) {
        debug_assert_eq!(line.len(), self.head.len());
        self.lines.push(line);
    }

    /// Returns Markdown with aligned columns.
    pub fn text(&self) -> String {
        let all = || std::iter::once(&self.head).chain(&self.lines);
        let width = |c: usize| all().map(|l| l[c].chars().count()).max().unwrap_or(0).max(3);
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
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

    pub fn html(&self, escape: impl Fn(&str) -> String) -> String {
        let row = |cells: &[String], tag: &str| {
            let cells: String = cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = self.lines.iter().map(|l| row(l, "td")).collect();
        let head = row(&self.head, "th");
        format!("<div class=\"scroll\"><table><thead>{head}</thead><tbody>\n{body}</tbody></table></div>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_line_up_and_html_is_escaped() {
        let mut table = Table::new(&["method", "µs"]);
        table.push(vec!["a < b".into(), "12.5".into()]);
        assert_eq!(table.text(), "| method |   µs |\n| ------ | ---: |\n| a < b  | 12.5 |\n");
        let html = table.html(|t| t.replace('<', "&lt;"));
        assert!(html.contains("<td>a &lt; b</td><td>12.5</td>"), "{html}");
    }
}
