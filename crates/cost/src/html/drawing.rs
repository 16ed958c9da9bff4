//! The staircase: both costs over the volume, hatched where hosting pays.

use std::fmt::Write;

use super::{Kind, Page, escape};
use crate::{chart::Chart, figure::Figure, report::CostReport};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 44.0;

impl Page<'_> {
    pub(super) fn staircase(&self) -> String {
        let chart = &self.report.chart;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<figure>\n<figcaption><strong>{}</strong><span>{}</span></figcaption>",
            self.say(("Cost of a month over the volume", "用量與每月成本")),
            self.say((
                "Hosting goes up by stairs, one replica each; the API is a straight line. Hatched: hosting costs no more.",
                "自架成本逐份副本階梯上升，API 為直線；斜線區域為自架不較貴之處。"
            )),
        );
        let title = self.say(("Cost of a month over tasks a day", "每月成本對每日件數"));
        let _ = writeln!(
            out,
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n<defs><pattern id=\"pays\" width=\"7\" \
             height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" \
             y2=\"7\" stroke=\"#b9c6d2\" stroke-width=\"2\"/></pattern></defs>"
        );
        self.bands(&mut out);
        self.axes(&mut out);
        lines(chart, &mut out);
        self.marks(&mut out);
        self.names(&mut out);
        out.push_str("</svg>\n</figure>\n");
        out
    }

    /// Where hosting pays.
    fn bands(&self, out: &mut String) {
        let chart = &self.report.chart;
        let bottom = y(chart, Figure::ZERO);
        for range in &self.report.break_even.ranges {
            let end = range.to.map_or(chart.volume_end, |to| to.min(chart.volume_end));
            if range.from < end {
                let (left, right) = (x(chart, range.from), x(chart, end));
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"url(#pays)\"/>",
                    right - left,
                    bottom - TOP,
                );
            }
        }
    }

    fn axes(&self, out: &mut String) {
        let chart = &self.report.chart;
        let (bottom, right) = (y(chart, Figure::ZERO), WIDTH - RIGHT);
        for (index, tick) in chart.cost_ticks.iter().enumerate() {
            let at = y(chart, *tick);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>{}",
                self.mark((LEFT - 8.0, at + 4.0), "end", &format!("/chart/cost_ticks/{index}"), Kind::Plain, "soft"),
            );
        }
        for (index, tick) in chart.volume_ticks.iter().enumerate() {
            let at = x(chart, *tick);
            let _ = writeln!(
                out,
                "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{bottom:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\"/>{}",
                bottom + 5.0,
                self.mark((at, bottom + 19.0), "middle", &format!("/chart/volume_ticks/{index}"), Kind::Plain, "soft"),
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom:.1}\" x2=\"{right}\" y2=\"{bottom:.1}\"/>\n\
             <text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\" class=\"soft\">{}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" class=\"soft\">{}</text>",
            bottom + 36.0,
            self.say(("tasks a day", "每日件數")),
            LEFT - 8.0,
            TOP - 12.0,
            escape(&self.report.currency),
        );
    }

    /// Your volume, and the first that pays.
    fn marks(&self, out: &mut String) {
        let CostReport { chart, tasks_per_day, break_even, .. } = self.report;
        let (bottom, here) = (y(chart, Figure::ZERO), x(chart, *tasks_per_day));
        let _ = writeln!(
            out,
            "<line class=\"here\" x1=\"{here:.1}\" y1=\"{:.1}\" x2=\"{here:.1}\" y2=\"{bottom:.1}\"/>",
            TOP - 30.0
        );
        self.label(out, here, TOP - 22.0, ("your volume ", "您的用量 "), "/tasks_per_day");
        let Some(first) = break_even.first_tasks_per_day.filter(|first| *first <= chart.volume_end) else { return };
        let at = x(chart, first);
        // Where the set begins the two are equal, or the step before was dearer; the API's line passes through it.
        let share = first.to_f64() / chart.volume_end.to_f64();
        let cost = chart.api_from.to_f64() + (chart.api_to.to_f64() - chart.api_from.to_f64()) * share;
        let _ = writeln!(out, "<circle class=\"dot\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4.5\"/>", y_of(chart, cost));
        self.label(out, at, TOP - 6.0, ("pays from ", "划算起點 "), "/break_even/first_tasks_per_day");
    }

    fn label(&self, out: &mut String, at: f64, y: f64, words: (&'static str, &'static str), path: &str) {
        let (anchor, x) =
            if at > LEFT + (WIDTH - LEFT - RIGHT) * 0.6 { ("end", at - 6.0) } else { ("start", at + 6.0) };
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"halo\">{}<tspan class=\"strong\" \
             data-path=\"{path}\">{}</tspan></text>",
            self.say(words),
            self.text(path, Kind::Plain),
        );
    }

    /// Each line's name at its end, apart from one another.
    fn names(&self, out: &mut String) {
        let CostReport { chart, api, self_hosted, .. } = self.report;
        let own = chart.stairs.last().map_or(Figure::ZERO, |stair| stair.cost_to);
        let (mut one, mut other) = (y(chart, chart.api_to), y(chart, own));
        if (one - other).abs() < 32.0 {
            let (middle, above) = ((one + other) / 2.0, if one < other { -16.0 } else { 16.0 });
            (one, other) = (middle + above, middle - above);
        }
        for (at, name, path, class) in
            [(one, &api.name, "/chart/api_to", ""), (other, &self_hosted.name, "/chart/stairs", "strong")]
        {
            let x = WIDTH - RIGHT + 8.0;
            let path = match path {
                "/chart/stairs" => format!("/chart/stairs/{}/cost_to", chart.stairs.len().saturating_sub(1)),
                other => other.to_owned(),
            };
            let _ = writeln!(
                out,
                "<text x=\"{x}\" y=\"{at:.1}\" class=\"{class}\">{}</text>{}",
                escape(&shortened(name)),
                self.mark((x, at + 14.0), "start", &path, Kind::Plain, "soft"),
            );
        }
    }
}

fn lines(chart: &Chart, out: &mut String) {
    let mut path = String::new();
    for (index, stair) in chart.stairs.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(
            path,
            "{command}{:.1} {:.1}L{:.1} {:.1}",
            x(chart, stair.from),
            y(chart, stair.cost_from),
            x(chart, stair.to),
            y(chart, stair.cost_to)
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"own\" d=\"{path}\"/>\n<line class=\"api\" x1=\"{LEFT}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        y(chart, chart.api_from),
        WIDTH - RIGHT,
        y(chart, chart.api_to),
    );
}

fn x(chart: &Chart, volume: Figure) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * (volume.to_f64() / chart.volume_end.to_f64()).min(1.0)
}

fn y(chart: &Chart, cost: Figure) -> f64 {
    y_of(chart, cost.to_f64())
}

fn y_of(chart: &Chart, cost: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (cost / chart.cost_end.to_f64()).clamp(0.0, 1.0)
}

/// A name as it fits beside a drawing; a Chinese character takes the place of two letters.
pub(crate) fn shortened(name: &str) -> String {
    let mut width = 0;
    let mut kept = String::new();
    for c in name.chars() {
        width += if c.is_ascii() { 1 } else { 2 };
        if width > 19 {
            kept.push('…');
            break;
        }
        kept.push(c);
    }
    kept
}
