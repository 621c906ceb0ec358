// Draws the plots over time from the data in the page. Nothing is fetched; without this script the page is whole
// but for these plots.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const area = document.querySelector(".plots");
  area.hidden = false;
  let plots = [];
  let selected = -1;

  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const number = (v, digits) => (v === 0 ? "0" : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en").replace(/,/g, " ") : String(+v.toPrecision(digits)));
  const latency = (us) => (us >= 1e6 ? number(us / 1e6, 3) + " s" : us >= 1e3 ? number(us / 1e3, 3) + " ms" : us >= 1 ? number(us, 3) + " us" : number(us * 1e3, 3) + " ns");
  const value = (unit) => (u, v) => (v === null || v === undefined ? "–" : unit === "us" ? latency(v) : number(v, 3) + " " + unit);

  // Phases as bands with their warm-up hatched lighter, and names where they fit.
  function bands() {
    return {
      hooks: {
        drawClear: [
          (u) => {
            const c = u.ctx, box = u.bbox, ratio = uPlot.pxRatio;
            c.save();
            c.beginPath();
            c.rect(box.left, box.top, box.width, box.height);
            c.clip();
            c.font = 11 * ratio + "px system-ui, sans-serif";
            data.phases.forEach((p, i) => {
              const a = u.valToPos(p.from, "x", true), b = u.valToPos(p.to, "x", true), w = u.valToPos(p.cut, "x", true);
              c.fillStyle = colour("band");
              if (i % 2 === 0) c.fillRect(a, box.top, b - a, box.height);
              c.fillRect(a, box.top, Math.max(0, w - a), box.height);
            });
            c.restore();
          },
        ],
        draw: [
          (u) => {
            const c = u.ctx, box = u.bbox, ratio = uPlot.pxRatio;
            c.save();
            c.font = 11 * ratio + "px system-ui, sans-serif";
            c.fillStyle = colour("soft");
            c.textBaseline = "top";
            c.textAlign = "left";
            for (const p of data.phases) {
              const a = Math.max(box.left, u.valToPos(p.from, "x", true)), b = Math.min(box.left + box.width, u.valToPos(p.to, "x", true));
              for (const at of p.changes) {
                const x = u.valToPos(at, "x", true);
                if (x < box.left || x > box.left + box.width) continue;
                c.strokeStyle = colour("bad");
                c.lineWidth = 1.5 * ratio;
                c.setLineDash([5 * ratio, 4 * ratio]);
                c.beginPath();
                c.moveTo(x, box.top);
                c.lineTo(x, box.top + box.height);
                c.stroke();
                c.setLineDash([]);
              }
              if (u.bandNames && c.measureText(p.name).width + 6 * ratio < b - a) c.fillText(p.name, a + 3 * ratio, box.top + 2 * ratio);
            }
            c.restore();
          },
        ],
      },
    };
  }

  function axis(label, width) {
    return { stroke: colour("soft"), font: "11px system-ui, sans-serif", grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, values: label, size: width || 52, gap: 4 };
  }

  // Straight lines with real gaps: where a value is missing the line ends, however close the next one is.
  function lines(filled) {
    return (u, k, first, last) => {
      const x = u.data[0], y = u.data[k], stroke = new Path2D(), fill = filled ? new Path2D() : null;
      const ground = u.valToPos(u.scales.y.min, "y", true);
      let before = null, single = false;
      const close = () => {
        if (before === null) return;
        if (single) stroke.lineTo(before[0] + 1, before[1]);
        if (fill) { fill.lineTo(before[0] + (single ? 1 : 0), before[1]); fill.lineTo(before[0] + (single ? 1 : 0), ground); }
        before = null;
      };
      for (let i = first; i <= last; i++) {
        if (y[i] === null || y[i] === undefined) { close(); continue; }
        const a = u.valToPos(x[i], "x", true), b = u.valToPos(y[i], "y", true);
        if (before === null) {
          stroke.moveTo(a, b);
          if (fill) { fill.moveTo(a, ground); fill.lineTo(a, b); }
          single = true;
        } else {
          stroke.lineTo(a, b);
          if (fill) fill.lineTo(a, b);
          single = false;
        }
        before = [a, b];
      }
      close();
      return { stroke: stroke, fill: fill, clip: null, band: null, gaps: null, flags: 1 };
    };
  }

  function plot(id, columns, series, options) {
    const place = document.getElementById(id);
    // Nothing has a width in a part that is folded.
    if (!place || !place.clientWidth) return;
    const o = options || {};
    const width = place.clientWidth;
    const log = o.unit === "us";
    const u = new uPlot(
      {
        width: width,
        height: o.height || 190,
        plugins: [bands()],
        padding: [8, 24, 0, 0],
        cursor: { sync: { key: "narrows", setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
        legend: { live: true },
        scales: {
          x: { time: false },
          y: log ? { distr: 3, range: (u, lo, hi) => (lo === null ? [1, 1000] : [Math.pow(10, Math.floor(Math.log10(Math.max(lo, 1e-3)))), Math.pow(10, Math.ceil(Math.log10(hi)))]) }
            : { range: (u, lo, hi) => (o.free ? (lo === null ? [0, 1] : [Math.floor(lo - 2), Math.ceil(hi + 2)]) : [0, o.top || (hi > 0 ? hi * 1.12 : 1)]) },
        },
        axes: [
          axis((u, v) => v.map((t) => number(t, 4) + " s"), 26),
          Object.assign(axis((u, v) => v.map((t) => (t === null ? "" : log ? (Math.abs(Math.log10(t) % 1) < 1e-9 ? latency(t) : "") : number(t, 3) + (o.mark || ""))), 52),
            log ? { grid: { stroke: colour("grid"), width: 1, filter: (u, v) => v.map((t) => (Math.abs(Math.log10(t) % 1) < 1e-9 ? t : null)) } } : {}),
        ],
        series: [{ label: "time", value: value("s") }].concat(
          series.map((s) => ({
            label: s.label, stroke: s.stroke, fill: s.fill, width: s.width === undefined ? 1.4 : s.width, dash: s.dash,
            points: { show: false }, spanGaps: false, paths: lines(!!s.fill),
            value: s.value || value(o.unit),
          }))
        ),
      },
      columns,
      place
    );
    u.bandNames = o.names;
    plots.push(u);
  }

  // Areas on top of each other: the sum first, so that each later one covers all but its own share.
  function stacked(t, layers) {
    const sums = [];
    let below = t.map(() => 0);
    for (const l of layers) {
      below = below.map((b, i) => (l.values[i] === null ? null : (b === null ? 0 : b) + l.values[i]));
      sums.push(below);
    }
    return sums;
  }

  function cpu() {
    const d = data.cpu;
    const layers = [
      ["system", "c2"], ["user", "c1"], ["irq", "c4"], ["steal", "c7"], ["iowait", "memory"],
    ].map(([key, c]) => ({ key: key, c: c, values: d[key] })).filter((l) => l.values.some((v) => v > 0));
    const sums = stacked(d.t, layers);
    const order = layers.map((l, i) => i).reverse();
    const columns = [d.t].concat(order.map((i) => sums[i]), [d.busiest]);
    const series = order.map((i) => ({
      label: layers[i].key === "iowait" ? "I/O wait" : layers[i].key, stroke: colour(layers[i].c), fill: colour(layers[i].c), width: 0,
      value: (u, v, s, k) => (k === null || k === undefined || layers[i].values[k] === null ? "–" : number(layers[i].values[k], 3) + " %"),
    }));
    series.push({ label: "busiest CPU", stroke: colour("ink"), width: 1.2, dash: [5, 3] });
    plot("plot-cpu", columns, series, { unit: "%", top: 100, mark: " %" });
  }

  function draw() {
    plots.forEach((u) => u.destroy());
    plots = [];
    const io = data.io;
    plot("plot-rate", [io.t, io.rate], [{ label: "throughput", stroke: colour("c1"), fill: colour("accent-ground") }], { unit: "MB/s", names: true, height: 220 });
    plot("plot-latency", [io.t, io.max, io.p99, io.p50], [
      { label: "max latency", stroke: colour("c2"), width: 1 },
      { label: "p99", stroke: colour("c7") },
      { label: "median", stroke: colour("c1"), width: 1.8 },
    ], { unit: "us", height: 220 });
    if (data.disk) plot("plot-disk", [data.disk.t, data.disk.read, data.disk.write], [
      { label: "read", stroke: colour("read"), fill: colour("accent-ground") },
      { label: "written", stroke: colour("write"), dash: [6, 3] },
    ], { unit: "MB/s" });
    if (data.cpu) cpu();
    const colours = ["c2", "c1", "c3", "c4", "c7", "c5"];
    if (data.temperature) plot("plot-temperature", [data.temperature.t].concat(data.temperature.series.map((s) => s.values)),
      data.temperature.series.map((s, i) => ({ label: s.name, stroke: colour(colours[i % 6]) })), { unit: "°C", free: true, height: 150 });
    if (data.frequency) plot("plot-frequency", [data.frequency.t, data.frequency.fastest, data.frequency.slowest], [
      { label: "fastest CPU", stroke: colour("c1") },
      { label: "slowest CPU", stroke: colour("c2"), dash: [5, 3] },
    ], { unit: "MHz", height: 150 });
    zoom(selected);
  }

  function zoom(i) {
    selected = i;
    const first = data.phases[0], last = data.phases[data.phases.length - 1];
    const from = i < 0 ? first.from : data.phases[i].from, to = i < 0 ? last.to : data.phases[i].to;
    const margin = (to - from) * 0.01;
    plots.forEach((u) => u.setScale("x", { min: from - margin, max: to + margin }));
    document.querySelectorAll(".zoom button").forEach((b, k) => b.setAttribute("aria-pressed", String(k - 1 === i)));
  }

  const names = ["all"].concat(data.phases.map((p) => p.name)), chooser = document.querySelector(".zoom");
  if (names.length > 16) {
    // More buttons than a page can bear: a list.
    const list = document.createElement("select");
    list.setAttribute("aria-label", "Phase to show");
    names.forEach((name, k) => list.add(new Option(name, String(k - 1))));
    list.addEventListener("change", () => zoom(Number(list.value)));
    chooser.appendChild(list);
  } else names.forEach((name, k) => {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = name;
    b.addEventListener("click", () => zoom(k - 1));
    chooser.appendChild(b);
  });

  draw();
  let wait = 0, width = area.clientWidth;
  window.addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(() => { if (area.clientWidth && area.clientWidth !== width) { width = area.clientWidth; draw(); } }, 150);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const folds = [area.closest("details"), area.querySelector("details")];
  folds.filter((f) => f).forEach((f) => f.addEventListener("toggle", () => { if (f.open) draw(); }));
  // Paper is light and as wide as a screen of 660 px.
  window.addEventListener("beforeprint", () => {
    root.setAttribute("data-print", "");
    draw();
    plots.forEach((u) => u.setSize({ width: Math.min(660, u.width), height: u.height }));
  });
  window.addEventListener("afterprint", () => {
    root.removeAttribute("data-print");
    draw();
  });
})();
