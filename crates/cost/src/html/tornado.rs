//! The sensitivity: what is saved if one figure is a quarter off, the one that matters most on top.

use std::fmt::Write;

use super::{Kind, Page};
use crate::words;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 270.0;
const RIGHT: f64 = 86.0;
const TOP: f64 = 40.0;
const ROW: f64 = 26.0;
/// Bars that are drawn; the table has all.
const BARS: usize = 12;

impl Page<'_> {
    pub(super) fn tornado(&self) -> String {
        let bars = &self.report.sensitivity[..self.report.sensitivity.len().min(BARS)];
        let base = self.report.saving_per_month.to_f64();
        let ends = bars.iter().flat_map(|bar| [bar.saving_at_low.to_f64(), bar.saving_at_high.to_f64()]);
        let (mut least, mut most) = ends.fold((base, base), |(least, most), end| (least.min(end), most.max(end)));
        if (most - least).abs() < 0.01 {
            (least, most) = (base - 1.0, base + 1.0);
        }
        let x = |saving: f64| LEFT + (WIDTH - LEFT - RIGHT) * (saving - least) / (most - least);
        let rows: f64 = bars.iter().map(|_| ROW).sum();
        let height = TOP + rows + 14.0;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "<figure>\n<figcaption><strong>{}</strong><span>{}</span></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" \
             role=\"img\" aria-label=\"{}\">\n<defs><pattern id=\"less\" width=\"5\" height=\"5\" \
             patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/>\
             <line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"5\" stroke=\"#1d4f7c\" stroke-width=\"2\"/></pattern></defs>",
            self.say(("What it hangs on", "取決於什麼")),
            self.say((
                "What hosting saves a month if one figure is a quarter lower (hatched) or higher (full).",
                "單一數字低四分之一（斜線）或高四分之一（實心）時，自架每月節省的金額。"
            )),
            self.say(("Saving a month for each figure that is a quarter off", "各數字偏離四分之一時的每月節省")),
        );
        if least < 0.0 && most > 0.0 {
            let zero = x(0.0);
            let _ = writeln!(
                out,
                "<line class=\"here\" x1=\"{zero:.1}\" y1=\"{:.1}\" x2=\"{zero:.1}\" y2=\"{:.1}\"/>",
                TOP - 6.0,
                height - 10.0
            );
        }
        for (index, bar) in bars.iter().enumerate() {
            let top = (0..index).map(|_| ROW).sum::<f64>() + TOP;
            let middle = top + ROW / 2.0 + 4.0;
            let (low, high) = (x(bar.saving_at_low.to_f64()), x(bar.saving_at_high.to_f64()));
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 92.0,
                words::field(&bar.field, self.language)
            );
            for (end, class) in [(low, "less"), (high, "more")] {
                let (from, to) = (end.min(x(base)), end.max(x(base)));
                let _ = writeln!(
                    out,
                    "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    top + 5.0,
                    to - from,
                    ROW - 10.0
                );
            }
            let path = |name: &str| format!("/sensitivity/{index}/{name}");
            let (left, right) =
                if low <= high { ("saving_at_low", "saving_at_high") } else { ("saving_at_high", "saving_at_low") };
            let (leftmost, rightmost) = (low.min(high).min(x(base)), low.max(high).max(x(base)));
            let _ = writeln!(
                out,
                "{}{}",
                self.mark((leftmost - 6.0, middle), "end", &path(left), Kind::Money, "soft halo"),
                self.mark((rightmost + 6.0, middle), "start", &path(right), Kind::Money, "soft halo"),
            );
        }
        let at = x(base);
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\"/>{}",
            TOP - 8.0,
            height - 10.0,
            self.mark((at, TOP - 14.0), "middle", "/saving_per_month", Kind::Money, "strong halo"),
        );
        out.push_str("</svg>\n</figure>\n");
        out
    }
}
