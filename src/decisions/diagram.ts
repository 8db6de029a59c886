// Reliability diagrams: how often the most probable option was right, against how probable it was said to be. On the
// diagonal a model is as sure as it is right; below it, surer.

import type { Bin } from "./metrics.ts";

const WIDTH = 40;

/** For a terminal: a line per bin, `o` where it should end and `#` as far as it does. */
export function reliabilityText(bins: readonly Bin[]): string {
  const lines = bins.map(({ confidence, accuracy, rows }) => {
    const reached = Math.round(accuracy * WIDTH);
    const bar: string[] = Array.from({ length: WIDTH + 1 }, (_, at) => (at < reached ? "#" : " "));
    bar[Math.round(confidence * WIDTH)] = "o";
    return `  ${percent(confidence)} said  |${bar.join("")}| ${percent(accuracy)} right  (${rows})`;
  });
  return `${lines.join("\n")}\n`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(0).padStart(3)} %`;
}

const SIZE = 320;
const EDGE = 40;

/** For a page. */
export function reliabilitySvg(bins: readonly Bin[], title: string): string {
  const x = (value: number) => (EDGE + value * SIZE).toFixed(1);
  const y = (value: number) => (EDGE + (1 - value) * SIZE).toFixed(1);
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  const dots = bins.map(({ confidence, accuracy, rows }) => {
    const radius = (3 + 5 * Math.sqrt(rows / most)).toFixed(1);
    return `<line x1="${x(confidence)}" y1="${y(confidence)}" x2="${x(confidence)}" y2="${y(accuracy)}" stroke="#c44" /><circle cx="${x(confidence)}" cy="${y(accuracy)}" r="${radius}" fill="#246" />`;
  });
  const side = SIZE + 2 * EDGE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" font-family="sans-serif" font-size="12">`,
    `<rect width="${side}" height="${side}" fill="#fff" />`,
    `<text x="${side / 2}" y="22" text-anchor="middle">${escaped(title)}</text>`,
    `<rect x="${EDGE}" y="${EDGE}" width="${SIZE}" height="${SIZE}" fill="none" stroke="#888" />`,
    `<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#888" stroke-dasharray="4" />`,
    ...dots,
    `<text x="${side / 2}" y="${side - 12}" text-anchor="middle">probability said</text>`,
    `<text x="14" y="${side / 2}" text-anchor="middle" transform="rotate(-90 14 ${side / 2})">share that was right</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
