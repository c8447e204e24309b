//! Line plots as SVG. Their colours follow the theme of the page.

use std::fmt::Write;

pub struct Series {
    /// Style class: the name of the method.
    pub class: &'static str,
    pub title: String,
    pub points: Vec<(f64, f64)>,
}

pub struct Plot {
    pub title: String,
    pub x_label: &'static str,
    /// True for a logarithmic x axis from the first value to the last instead of one from 0.
    pub x_log: bool,
    /// True for a logarithmic y axis; values below `floor` are drawn at it.
    pub log: bool,
    pub floor: f64,
    pub series: Vec<Series>,
    /// A dashed line with its name.
    pub mark: Option<(f64, String)>,
    /// The x range in which the figures are taken.
    pub shaded: Option<(f64, f64)>,
}

pub const WIDTH: f64 = 560.0;
pub const HEIGHT: f64 = 250.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 34.0;
/// Largest number of visible points per line.
const POINTS: usize = 600;

impl Plot {
    pub fn over_seconds(title: &str, log: bool, floor: f64, series: Vec<Series>) -> Self {
        let (x_label, x_log) = ("seconds", false);
        Self { title: title.into(), x_label, x_log, log, floor, series, mark: None, shaded: None }
    }

    /// Returns a plot with two logarithmic axes.
    pub fn of_powers(title: &str, x_label: &'static str, floor: f64, series: Vec<Series>) -> Self {
        Self { x_label, x_log: true, ..Self::over_seconds(title, true, floor, series) }
    }

    pub fn svg(&self) -> String {
        let scale = |y: f64| if self.log { y.max(self.floor).log10() } else { y };
        let values = || self.series.iter().flat_map(|s| &s.points);
        let x_end = values().map(|p| p.0).fold(1e-9, f64::max);
        let x_start = if self.x_log { values().map(|p| p.0).fold(x_end, f64::min) } else { 0.0 };
        let marked = self.mark.iter().map(|m| m.0);
        let top = values().map(|p| p.1).chain(marked).filter(|y| y.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        let (low, high, ticks) = self.axis(top);
        let across = |v: f64| match self.x_log {
            true => (v / x_start).ln() / (x_end / x_start).ln().max(1e-9),
            false => v / x_end,
        };
        let x = |v: f64| LEFT + across(v) * (WIDTH - LEFT - RIGHT);
        let y = |v: f64| {
            let share = ((scale(v) - low) / (high - low)).clamp(0.0, 1.0);
            HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
        };

        let mut svg =
            format!(r#"<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}">"#, self.title);
        let _ = write!(svg, r#"<text class="plot-title" x="0" y="14">{}</text>"#, self.title);
        if let Some((from, to)) = self.shaded {
            let (a, b) = (x(from), x(to.min(x_end)));
            let h = HEIGHT - TOP - BOTTOM;
            let _ = write!(svg, r#"<rect class="window" x="{a:.1}" y="{TOP}" width="{:.1}" height="{h}"/>"#, b - a);
        }
        for (value, label) in ticks {
            let at = y(value);
            let _ = write!(svg, r#"<path class="grid" d="M{LEFT} {at:.1}H{:.1}"/>"#, WIDTH - RIGHT);
            let _ = write!(
                svg,
                r#"<text class="tick" text-anchor="end" x="{}" y="{:.1}">{label}</text>"#,
                LEFT - 6.0,
                at + 3.5
            );
        }
        let ticks = if self.x_log { ticks_between(x_start, x_end) } else { ticks_to(x_end) };
        for v in ticks {
            let label = if v < 1e4 { trim(v, 2) } else { power(v.log10().round() as i32) };
            let _ = write!(
                svg,
                r#"<text class="tick" text-anchor="middle" x="{:.1}" y="{}">{label}</text>"#,
                x(v),
                HEIGHT - 17.0
            );
        }
        let _ = write!(
            svg,
            r#"<text class="tick" text-anchor="end" x="{}" y="{}">{}</text>"#,
            WIDTH - RIGHT,
            HEIGHT - 3.0,
            self.x_label
        );
        if let Some((value, name)) = &self.mark {
            let at = y(*value);
            let _ = write!(svg, r#"<path class="mark" d="M{LEFT} {at:.1}H{:.1}"/>"#, WIDTH - RIGHT);
            let _ = write!(
                svg,
                r#"<text class="tick" text-anchor="end" x="{}" y="{:.1}">{name}</text>"#,
                WIDTH - RIGHT,
                at - 4.0
            );
        }
        for s in &self.series {
            let mut path = String::new();
            for (i, p) in thinned(&s.points).iter().enumerate() {
                let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, x(p.0), y(p.1));
            }
            let _ = write!(svg, r#"<path class="line m-{}" d="{path}"><title>{}</title></path>"#, s.class, s.title);
        }
        svg + "</svg>"
    }

    /// Returns the lower and upper end of the axis on its scale, and the ticks with their labels.
    fn axis(&self, top: f64) -> (f64, f64, Vec<(f64, String)>) {
        if self.log {
            let low = self.floor.log10().round();
            let high = top.max(self.floor * 10.0).log10().ceil();
            let every = (((high - low) / 6.0).ceil() as i32).max(1);
            let exponents = (low as i32..=high as i32).filter(|e| (e - low as i32) % every == 0);
            return (low, high, exponents.map(|e| (10f64.powi(e), power(e))).collect());
        }
        let top = if top > 0.0 { top } else { 1.0 };
        let step = round_step(top / 4.0);
        let count = (top / step).ceil().max(1.0) as u32;
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let ticks = (0..=count).map(|k| f64::from(k) * step).map(|v| (v, format!("{v:.digits$}")));
        (0.0, f64::from(count) * step, ticks.collect())
    }
}

/// Returns evenly spaced ticks from 0.
fn ticks_to(end: f64) -> Vec<f64> {
    let step = round_step(end / 6.0);
    (0..).map(|k| f64::from(k) * step).take_while(|v| *v <= end * 1.001).collect()
}

/// Returns powers of ten as ticks; if there are few, also their 2- and 5-fold.
fn ticks_between(start: f64, end: f64) -> Vec<f64> {
    let multiples: &[f64] = if end / start > 300.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = (start.log10().floor() as i32)..=(end.log10().ceil() as i32);
    let all = powers.flat_map(|e| multiples.iter().map(move |m| m * 10f64.powi(e)));
    all.filter(|v| (start * 0.999..=end * 1.001).contains(v)).collect()
}

/// Returns the smallest of 1, 2 or 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let unit = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * unit).find(|s| *s >= least).unwrap_or(least)
}

/// Reduces points to at most [`POINTS`], each the mean of a group.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(POINTS).max(1);
    let mean = |c: &[(f64, f64)]| {
        let n = c.len() as f64;
        (c.iter().map(|p| p.0).sum::<f64>() / n, c.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(size).map(mean).collect()
}

fn trim(v: f64, digits: usize) -> String {
    let text = format!("{v:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

fn power(e: i32) -> String {
    if (-2..=4).contains(&e) {
        trim(10f64.powi(e), 2)
    } else {
        format!("1e{e}")
    }
}
