//! Line plots as SVG.

use std::ops::Range;

use plotters::coord::combinators::WithKeyPoints;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use voxshell::{Error, Result};

use super::palette::{self, Colour, BLUE, CARD, INK, LINE, SOFT};

/// Units of the SVG in a pixel of the page. The backend rounds to whole units, and lines of one and a half pixels exist.
const SCALE: u32 = 2;
/// Width and height without the legend, pixels.
const SIZE: [u32; 2] = [560, 250];
const TITLE_HEIGHT: u32 = 26;
const LEGEND_ROW: u32 = 18;
/// Space around a plot that is a separate file, pixels.
const MARGIN: u32 = 8;
/// Largest number of visible points of a curve.
const POINTS: usize = 600;

/// One line of a plot.
pub struct Curve {
    pub name: String,
    pub colour: Colour,
    /// Points by rising x; points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// Curves in one pair of axes.
pub struct Plot {
    pub title: String,
    pub x_label: &'static str,
    /// True for a logarithmic x axis from the first value to the last instead of a linear one from 0.
    pub x_log: bool,
    /// Lowest value of a logarithmic y axis; `None` for a linear one from 0. Lower values are drawn at the end of the
    /// axis.
    pub log_from: Option<f64>,
    /// Largest value of a linear y axis; `None` for that of the points. Larger values are drawn at the end of the axis.
    pub top: Option<f64>,
    pub curves: Vec<Curve>,
    /// A dashed horizontal line and its name.
    pub mark: Option<(f64, String)>,
    /// Range of x with a shaded background.
    pub shaded: Option<(f64, f64)>,
}

impl Plot {
    /// Returns a plot over seconds with a linear y axis.
    pub fn over_seconds(title: impl Into<String>, curves: Vec<Curve>) -> Self {
        let (title, x_label) = (title.into(), "seconds");
        Self { title, x_label, x_log: false, log_from: None, top: None, curves, mark: None, shaded: None }
    }

    /// Returns a plot with two logarithmic axes.
    pub fn of_powers(title: impl Into<String>, x_label: &'static str, floor: f64, curves: Vec<Curve>) -> Self {
        Self { x_label, x_log: true, log_from: Some(floor), ..Self::over_seconds(title, curves) }
    }

    /// Returns the SVG for a page of [`super::page`], which has the style and shows the legend.
    pub fn svg(&self) -> Result<String> {
        self.drawn(false)
    }

    /// Returns the SVG as a separate file with its legend and style.
    pub fn standalone_svg(&self) -> Result<String> {
        let style = format!("<style>\n{}text {{ font-family: system-ui, sans-serif; }}\n</style>\n", palette::css());
        let svg = self.drawn(true)?;
        let start = svg.find('>').map_or(0, |i| i + 1);
        Ok(format!("{}\n{style}{}", &svg[..start], svg[start..].trim_start()))
    }

    fn drawn(&self, legend: bool) -> Result<String> {
        let points = || self.curves.iter().flat_map(|c| &c.points).filter(|p| p.0.is_finite() && p.1.is_finite());
        let end = points().map(|p| p.0).fold(1e-9, f64::max);
        let start = points().map(|p| p.0).fold(end, f64::min);
        let top = points().map(|p| p.1).chain(self.mark.iter().map(|m| m.0)).fold(0.0, f64::max);
        let y_log = |floor: f64| {
            // Up to the next power of ten.
            let top = 10f64.powf(top.max(floor * 10.0).log10().ceil());
            (powers(floor, top), floor..top)
        };
        let y_linear = || {
            let top = self.top.unwrap_or(if top > 0.0 { 1.06 * top } else { 1.0 });
            (0.0..top, 0.0..top)
        };
        let mut svg = String::new();
        let canvas = Canvas { plot: self, legend, svg: &mut svg };
        let drawn = match (self.x_log, self.log_from) {
            (true, Some(floor)) => canvas.draw(powers(start, end), start..end, y_log(floor)),
            (true, None) => canvas.draw(powers(start, end), start..end, y_linear()),
            (false, Some(floor)) => canvas.draw(0.0..end, 0.0..end, y_log(floor)),
            (false, None) => canvas.draw(0.0..end, 0.0..end, y_linear()),
        };
        drawn.map_err(|e| Error::Unsupported(format!("the plot of {}: {e}", self.title)))?;
        Ok(svg)
    }
}

struct Canvas<'a> {
    plot: &'a Plot,
    legend: bool,
    svg: &'a mut String,
}

impl Canvas<'_> {
    fn draw<X, Y>(
        self,
        x: X,
        across: Range<f64>,
        (y, up): (Y, Range<f64>),
    ) -> std::result::Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let Self { plot, legend, svg } = self;
        let text = |pixels: f64, colour: Colour| ("sans-serif", font(pixels)).into_font().color(&colour.rgb());
        let [small, bold] = [text(11.0, SOFT), text(13.0, INK)];
        let keys = if legend { keys(&plot.curves) } else { Vec::new() };
        let legend_height = keys.last().map_or(0, |k| k.1 + LEGEND_ROW);
        let margin = if legend { MARGIN } else { 0 };
        let size = [SIZE[0], SIZE[1] + legend_height].map(|pixels| (pixels + 2 * margin) * SCALE);
        let root = SVGBackend::with_string(svg, size.into()).into_drawing_area();
        root.fill(&CARD.rgb())?;
        let root = root.margin(margin * SCALE, margin * SCALE, margin * SCALE, margin * SCALE);
        let (head, body) = root.split_vertically((TITLE_HEIGHT + legend_height) * SCALE);
        let bold = TextStyle { font: bold.font.style(FontStyle::Bold), ..bold };
        head.draw(&Text::new(plot.title.as_str(), at(0, 3), bold))?;
        for (curve, (left, down)) in plot.curves.iter().zip(&keys) {
            let (left, middle) = (*left as i32, (TITLE_HEIGHT + down + LEGEND_ROW / 2) as i32);
            head.draw(&PathElement::new(
                vec![at(left, middle), at(left + 14, middle)],
                curve.colour.rgb().stroke_width(3 * SCALE),
            ))?;
            let beside = small.pos(Pos::new(HPos::Left, VPos::Center));
            head.draw(&Text::new(curve.name.as_str(), at(left + 19, middle), beside))?;
        }
        let mut chart = ChartBuilder::on(&body)
            .margin_right(16 * SCALE)
            .margin_top(6 * SCALE)
            .x_label_area_size(36 * SCALE)
            .y_label_area_size(50 * SCALE)
            .build_cartesian_2d(x, y)?;
        if let Some((from, to)) = plot.shaded {
            let corners = [(from, up.start), (to.min(across.end), up.end)];
            chart.draw_series([Rectangle::new(corners, BLUE.rgb().mix(0.06).filled())])?;
        }
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE.rgb().stroke_width(SCALE))
            .axis_style(LINE.rgb().stroke_width(SCALE))
            .set_all_tick_mark_size(4 * SCALE)
            .label_style(small.clone())
            .x_desc(plot.x_label)
            .x_labels(8)
            .y_labels(6)
            .x_label_formatter(&|x| number(*x))
            .y_label_formatter(&|y| number(*y))
            .draw()?;
        if let Some((value, name)) = &plot.mark {
            let line = [(across.start, *value), (across.end, *value)];
            let dashes = DashedLineSeries::new(line, 5 * SCALE, 4 * SCALE, SOFT.rgb().stroke_width(SCALE));
            chart.draw_series(dashes)?;
            let above = small.pos(Pos::new(HPos::Right, VPos::Bottom));
            chart.draw_series([Text::new(name.clone(), line[1], above)])?;
        }
        for Curve { colour, points, .. } in &plot.curves {
            let inside = thinned(points).into_iter().map(|p| (p.0, p.1.clamp(up.start, up.end)));
            chart.draw_series(LineSeries::new(inside, colour.rgb().stroke_width(3)))?;
        }
        root.present()?;
        Ok(())
    }
}

/// Returns a position in the units of the SVG from one in pixels.
fn at(x: i32, y: i32) -> (i32, i32) {
    (x * SCALE as i32, y * SCALE as i32)
}

/// Returns the size for the SVG backend, which divides it by 1.24, of a font of so many pixels.
fn font(pixels: f64) -> f64 {
    1.24 * pixels * f64::from(SCALE)
}

/// Returns the positions of the keys in the legend, pixels from its top left.
fn keys(curves: &[Curve]) -> Vec<(u32, u32)> {
    let (mut x, mut y) = (0, 0);
    let key = |curve: &Curve| {
        let width = 40 + 6 * curve.name.chars().count() as u32;
        if x > 0 && x + width > SIZE[0] {
            (x, y) = (0, y + LEGEND_ROW);
        }
        x += width;
        (x - width, y)
    };
    curves.iter().map(key).collect()
}

/// Returns a logarithmic axis with ticks at powers of ten; on a short axis also at their 2- and 5-fold.
fn powers(start: f64, end: f64) -> WithKeyPoints<LogCoord<f64>> {
    let multiples: &[f64] = if end / start > 300.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let (low, high) = (start.log10().round() as i32, end.log10().ceil() as i32);
    let every = ((high - low) as usize).div_ceil(6).max(1);
    let exponents = (low - 1..=high).filter(|e| (e - low).rem_euclid(every as i32) == 0);
    let all = exponents.flat_map(|e| multiples.iter().map(move |m| m * 10f64.powi(e)));
    let ticks: Vec<f64> = all.filter(|v| (start * 0.999..=end * 1.001).contains(v)).collect();
    (start..end).log_scale().with_key_points(ticks)
}

/// Formats a number in its shortest form.
fn number(value: f64) -> String {
    if value != 0.0 && !(0.01..=1e4).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    // The display of floats is the shortest that reads back equal: rounds away the error of the tick's computation.
    ((value * 1e3).round() / 1e3).to_string()
}

/// Returns at most [`POINTS`] points, each the largest of a group, so that short peaks stay visible.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let finite: Vec<_> = points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
    let size = finite.len().div_ceil(POINTS).max(1);
    let largest = |group: &[(f64, f64)]| (group[0].0, group.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max));
    finite.chunks(size).map(largest).collect()
}
