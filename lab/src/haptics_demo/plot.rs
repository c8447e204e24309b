//! Curves over time as SVG, one for each renderer, with a legend.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use voxshell::{Error, Result};

use super::session::{Moment, Recording, RendererName};

const SIZE: (u32, u32) = (560, 290);
/// Height of title and legend.
const HEAD: u32 = 44;
/// Largest number of visible points; each stands for the largest of a group.
const POINTS: usize = 500;

/// A quantity that is plotted over time.
pub struct Quantity {
    pub name: &'static str,
    pub title: &'static str,
    value: fn(&Moment) -> f64,
    /// Lowest value of a logarithmic axis; `None` for a linear axis.
    log_from: Option<f64>,
}

/// Quantities of the papers' Figs 6 and 7.
pub const QUANTITIES: [Quantity; 5] = [
    Quantity { name: "force", title: "Force, N", value: |m| m.wrench.force.norm(), log_from: None },
    Quantity { name: "torque", title: "Torque, N·m", value: |m| m.wrench.torque.norm(), log_from: None },
    Quantity { name: "penetration", title: "Penetration, mm", value: |m| m.penetration * 1e3, log_from: None },
    Quantity { name: "contacts", title: "Contacts", value: |m| m.contacts as f64, log_from: None },
    Quantity { name: "time", title: "Time per step, µs", value: |m| m.time_of_step() * 1e6, log_from: Some(0.3) },
];

pub fn colour(renderer: RendererName) -> RGBColor {
    match renderer {
        RendererName::Vps => RGBColor(125, 135, 148),
        RendererName::Penalty => RGBColor(224, 123, 26),
        RendererName::ContinuousPenalty => RGBColor(141, 107, 176),
        RendererName::GodObject => RGBColor(31, 102, 199),
        RendererName::Impulse => RGBColor(26, 160, 120),
        RendererName::GodObjectDiscrete => RGBColor(201, 60, 80),
    }
}

/// One line of a plot.
pub struct Curve<'a> {
    pub name: &'a str,
    pub colour: RGBColor,
    /// Seconds, and the values at these times.
    pub points: Vec<(f64, f64)>,
}

impl Quantity {
    pub fn svg(&self, recordings: &[Recording]) -> Result<String> {
        let curve = |r: &Recording| {
            let points = thinned(r.moments.iter().map(|m| (m.time, (self.value)(m))));
            Curve { name: r.renderer.title(), colour: colour(r.renderer), points }
        };
        let curves: Vec<Curve> = recordings.iter().map(curve).collect();
        let top = curves.iter().flat_map(|c| &c.points).map(|p| p.1).fold(0.0, f64::max);
        match self.log_from {
            Some(floor) => svg(self.title, &curves, (floor..top.max(floor * 10.0)).log_scale(), floor),
            None => svg(self.title, &curves, 0.0..if top > 0.0 { 1.06 * top } else { 1.0 }, 0.0),
        }
    }
}

/// Draws curves in a range of values; values below `floor` are drawn at it.
pub fn svg<Y>(title: &str, curves: &[Curve], range: Y, floor: f64) -> Result<String>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut text = String::new();
    let drawn = draw(&mut text, title, curves, range, floor);
    drawn.map_err(|e| Error::Unsupported(format!("the plot of {title}: {e}")))?;
    Ok(text)
}

fn draw<Y>(
    text: &mut String,
    title: &str,
    curves: &[Curve],
    range: Y,
    floor: f64,
) -> std::result::Result<(), Box<dyn std::error::Error>>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let end = curves.iter().flat_map(|c| &c.points).map(|p| p.0).fold(1e-3, f64::max);
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (ink, soft) = (RGBColor(22, 32, 44), RGBColor(90, 102, 117));
    let (head, body) = root.split_vertically(HEAD);
    head.draw(&Text::new(title, (10, 6), ("sans-serif", 15).into_font().color(&ink)))?;
    let mut x = 10;
    for Curve { name, colour, .. } in curves {
        head.draw(&PathElement::new(vec![(x, 35), (x + 14, 35)], colour.stroke_width(3)))?;
        head.draw(&Text::new(*name, (x + 19, 28), ("sans-serif", 12).into_font().color(&soft)))?;
        x += 38 + 6 * name.len() as i32;
    }
    let mut chart = ChartBuilder::on(&body)
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..end, range)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 229, 234))
        .axis_style(RGBColor(190, 198, 208))
        .label_style(("sans-serif", 12).into_font().color(&soft))
        .x_desc("seconds")
        .x_labels(8)
        .y_labels(5)
        .x_label_formatter(&|x| format!("{}", (x * 100.0).round() / 100.0))
        .y_label_formatter(&|y| number(*y))
        .draw()?;
    for Curve { colour, points, .. } in curves {
        chart.draw_series(LineSeries::new(points.iter().map(|p| (p.0, p.1.max(floor))), colour.stroke_width(2)))?;
    }
    root.present()?;
    Ok(())
}

/// Formats a number in its shortest form.
fn number(y: f64) -> String {
    let text = if y != 0.0 && y.abs() < 0.01 { format!("{y:.4}") } else { format!("{y:.2}") };
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

/// Reduces points to the visible number.
pub fn thinned(points: impl ExactSizeIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(POINTS).max(1);
    let points: Vec<(f64, f64)> = points.collect();
    let most = |part: &[(f64, f64)]| (part[0].0, part.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max));
    points.chunks(each).map(most).collect()
}
