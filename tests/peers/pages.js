// Runs in a page that is to be looked at: what of its text overlaps, is cut off, is too faint or makes the page scroll sideways.
// `pages.py` evaluates it; `watchCanvas` before the page loads, `measure` afterwards.

// Text on a canvas has no boxes: each piece is kept with its box as it is drawn, until its canvas is cleared.
function watchCanvas() {
  const proto = CanvasRenderingContext2D.prototype, fill = proto.fillText, clear = proto.clearRect;
  window.drawnText = new Map();
  proto.clearRect = function (x, y, w, h) {
    if (w >= this.canvas.width && h >= this.canvas.height) window.drawnText.set(this.canvas, []);
    return clear.apply(this, arguments);
  };
  proto.fillText = function (text, x, y) {
    const m = this.measureText(text), t = this.getTransform();
    const corners = [[-m.actualBoundingBoxLeft, -m.actualBoundingBoxAscent], [m.actualBoundingBoxRight, m.actualBoundingBoxDescent],
      [-m.actualBoundingBoxLeft, m.actualBoundingBoxDescent], [m.actualBoundingBoxRight, -m.actualBoundingBoxAscent]]
      .map(([dx, dy]) => t.transformPoint(new DOMPoint(x + dx, y + dy)));
    const xs = corners.map((p) => p.x), ys = corners.map((p) => p.y);
    const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    if (String(text).trim()) {
      if (!window.drawnText.has(this.canvas)) window.drawnText.set(this.canvas, []);
      window.drawnText.get(this.canvas).push({ text: String(text), box: box, colour: this.fillStyle });
    }
    return fill.apply(this, arguments);
  };
}

function measure() {
  const faults = [];
  const fault = (kind, words) => { if (faults.length < 200) faults.push(kind + ": " + words); };
  const quote = (s) => "'" + s.trim().replace(/\s+/g, " ").slice(0, 40) + "'";
  const where = (e) => { const s = e.closest("section[id], header, footer"); return s ? " in " + (s.id || s.tagName.toLowerCase()) : ""; };
  const html = document.documentElement;

  if (html.scrollWidth > html.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > html.clientWidth + 1);
    const last = wide[wide.length - 1];
    fault("sideways", html.scrollWidth + " px on " + html.clientWidth + (last ? ", " + last.tagName.toLowerCase() + "." + last.getAttribute("class") + where(last) : ""));
  }

  // What is left of a box within all that cuts it off; a piece that cannot be scrolled into view is a fault.
  function visible(box, element, text) {
    const b = { left: box.left, right: box.right, top: box.top, bottom: box.bottom };
    for (let e = element; e && e !== html; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.clipPath !== "none") return null;
      if (style.overflowX === "visible" || (e instanceof SVGElement && e.ownerSVGElement)) continue;
      const c = e.getBoundingClientRect();
      // The height of a box of text is that of the font, not of its letters.
      const room = (b.bottom - b.top) * 0.25;
      if (style.overflowX !== "auto" && style.overflowX !== "scroll" && (b.left < c.left - 1 || b.right > c.right + 1 || b.top < c.top - room || b.bottom > c.bottom + room))
        fault("cut off", quote(text) + where(element));
      b.left = Math.max(b.left, c.left); b.right = Math.min(b.right, c.right);
      b.top = Math.max(b.top, c.top); b.bottom = Math.min(b.bottom, c.bottom);
      if (b.right - b.left < 2 || b.bottom - b.top < 2) return null;
    }
    return b.right > 0 && b.bottom > 0 ? b : null;
  }

  function pieces() {
    const out = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n = walker.nextNode(); n; n = walker.nextNode()) {
      const e = n.parentElement;
      if (!n.data.trim() || ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION", "TITLE", "title"].includes(e.tagName)) continue;
      if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(n);
      for (const r of range.getClientRects()) {
        if (r.width < 1 || r.height < 1) continue;
        const box = visible(r, e, n.data);
        if (box) out.push({ node: n, element: e, text: n.data, box: box });
      }
    }
    return out;
  }

  // Two boxes of different texts that share more than their edges.
  function overlaps(list, place) {
    const shrunk = list.map((p) => {
      const h = p.box.bottom - p.box.top;
      return { p: p, l: p.box.left + 0.5, r: p.box.right - 0.5, t: p.box.top + h * 0.17, b: p.box.bottom - h * 0.17 };
    }).sort((a, b) => a.t - b.t);
    for (let i = 0; i < shrunk.length; i++) {
      for (let k = i + 1; k < shrunk.length && shrunk[k].t < shrunk[i].b; k++) {
        const a = shrunk[i], b = shrunk[k];
        if (a.p.node && a.p.node === b.p.node) continue;
        if (Math.min(a.r, b.r) - Math.max(a.l, b.l) > 1 && Math.min(a.b, b.b) - Math.max(a.t, b.t) > 1)
          fault("overlap", quote(a.p.text) + " and " + quote(b.p.text) + place(a.p));
      }
    }
  }

  const parse = (colour) => {
    const c = document.createElement("canvas");
    c.width = c.height = 1;
    const g = c.getContext("2d", { willReadFrequently: true });
    g.fillStyle = colour;
    g.fillRect(0, 0, 1, 1);
    const d = g.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
  };
  const known = new Map();
  const rgba = (colour) => { if (!known.has(colour)) known.set(colour, parse(colour)); return known.get(colour); };
  const over = (top, ground) => [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3]));
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };

  // The colour behind a point: everything that is painted there below `element`, from the bottom up.
  function ground(x, y, element) {
    const stack = document.elementsFromPoint(x, y);
    const at = stack.indexOf(element);
    const below = (at < 0 ? stack : stack.slice(at)).reverse();
    let colour = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    for (const e of below) {
      const style = getComputedStyle(e);
      let paint = null;
      if (e instanceof SVGGeometryElement) { if (style.fill !== "none") { paint = [...rgba(style.fill)]; paint[3] *= style.fillOpacity * style.opacity; } }
      else if (!(e instanceof SVGElement)) paint = rgba(style.backgroundColor);
      if (paint) colour = over(paint, colour);
    }
    return colour;
  }

  const list = pieces();
  overlaps(list, (p) => where(p.element));
  const faint = new Map(), alike = new Set();
  for (const p of list) {
    const style = getComputedStyle(p.element), svg = p.element instanceof SVGElement;
    if (!svg) {
      // Texts of one kind in one kind of place have one ground: one of them is enough.
      let kind = style.color;
      for (let e = p.element; e; e = e.parentElement) kind += " " + e.tagName + "." + e.className;
      if (alike.has(kind)) continue;
      alike.add(kind);
    }
    const behind = ground((p.box.left + p.box.right) / 2, (p.box.top + p.box.bottom) / 2, p.element);
    const ink = [...rgba(svg ? style.fill : style.color)];
    for (let e = p.element; e; e = e.parentElement) ink[3] *= getComputedStyle(e).opacity;
    const ratio = contrast(over(ink, behind), behind);
    if (ratio < 4.5) faint.set((svg ? style.fill : style.color) + " on rgb(" + behind.map(Math.round) + ")", [ratio, p]);
  }
  for (const [colours, [ratio, p]] of faint) fault("faint", ratio.toFixed(2) + " of 4.5: " + colours + ", " + quote(p.text) + where(p.element));

  for (const dot of document.querySelectorAll("svg circle")) {
    if (!dot.checkVisibility()) continue;
    const d = dot.getBoundingClientRect(), s = dot.ownerSVGElement.getBoundingClientRect();
    if (d.left < s.left - 1 || d.right > s.right + 1 || d.top < s.top - 1 || d.bottom > s.bottom + 1) fault("cut off", "a dot" + where(dot));
  }

  // An axis whose marks are bare numbers needs its unit or its name in the drawing or its caption.
  for (const svg of document.querySelectorAll("svg")) {
    const marks = [...svg.querySelectorAll("text.tick")].filter((m) => m.checkVisibility());
    const bare = marks.filter((m) => /^[\d.,\s\u2009\u202f\u00a0-]+$/.test(m.textContent));
    if (bare.length && !svg.querySelector("text.axis")) fault("no unit", quote(bare[0].textContent) + where(svg));
  }

  let canvases = 0;
  for (const [canvas, texts] of window.drawnText || []) {
    if (!canvas.isConnected || !canvas.checkVisibility()) continue;
    canvases++;
    const label = " on a canvas" + where(canvas);
    for (const t of texts)
      if (t.box.left < -1 || t.box.top < -1 || t.box.right > canvas.width + 1 || t.box.bottom > canvas.height + 1) fault("cut off", quote(t.text) + label);
    overlaps(texts.map((t) => ({ text: t.text, box: t.box })), () => label);
    const r = canvas.getBoundingClientRect();
    const behind = ground(r.left + 1, r.top + 1, canvas);
    const worst = Math.min(21, ...texts.map((t) => contrast(over(rgba(t.colour), behind), behind)));
    if (worst < 4.5) fault("faint", worst.toFixed(2) + " of 4.5" + label);
    const caption = (canvas.closest("figure") || canvas).textContent;
    const units = texts.filter((t) => /[a-z%]/i.test(t.text)).length;
    if (!units && !/MB\/s|%|°C|MHz|IOPS|files\/s/.test(caption)) fault("no unit", quote(caption) + label);
  }
  return { faults: faults, height: html.scrollHeight, pieces: list.length, canvases: canvases };
}
