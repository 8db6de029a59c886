// Draws reliability diagrams, which show how often the most probable option was right against its stated probability. A model is
// well calibrated on the diagonal, and overconfident below it.

import type { Bin } from "./metrics.ts";

const WIDTH = 40;

/** A diagram for a terminal. Each bin is a line with `o` at the stated accuracy and `#` up to the actual one. */
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
const EDGE = 56;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** A diagram for a page, with rings before and dots after calibration, and the distance of each dot from the diagonal. */
export function reliabilitySvg(
  { binsBefore, bins }: { readonly binsBefore: readonly Bin[]; readonly bins: readonly Bin[] },
  title: string,
): string {
  const x = (value: number) => (EDGE + value * SIZE).toFixed(1);
  const y = (value: number) => (EDGE + (1 - value) * SIZE).toFixed(1);
  const most = Math.max(1, ...[...binsBefore, ...bins].map(({ rows }) => rows));
  const radius = (rows: number) => (2 + 4 * Math.sqrt(rows / most)).toFixed(1);
  const rings = binsBefore.map(
    ({ confidence, accuracy, rows }) =>
      `<circle cx="${x(confidence)}" cy="${y(accuracy)}" r="${radius(rows)}" fill="none" stroke="#b55" stroke-width="1.5" />`,
  );
  const dots = bins.map(({ confidence, accuracy, rows }) => {
    const [cx, cy] = [x(confidence), y(accuracy)];
    return `<line x1="${cx}" y1="${y(confidence)}" x2="${cx}" y2="${cy}" stroke="#8ab" /><circle cx="${cx}" cy="${cy}" r="${radius(rows)}" fill="#246" />`;
  });
  const ticks = TICKS.map((value) => {
    const label = `${value * 100} %`;
    return `<text x="${x(value)}" y="${EDGE + SIZE + 16}" text-anchor="middle">${label}</text><text x="${EDGE - 6}" y="${(Number(y(value)) + 4).toFixed(1)}" text-anchor="end">${label}</text>`;
  });
  const side = SIZE + 2 * EDGE;
  const [plotLeft, plotTop] = [EDGE + 12, EDGE + 18];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" font-family="sans-serif" font-size="11">`,
    `<rect width="${side}" height="${side}" fill="#fff" />`,
    `<text x="${side / 2}" y="30" text-anchor="middle" font-size="14">${escaped(title)}</text>`,
    `<rect x="${EDGE}" y="${EDGE}" width="${SIZE}" height="${SIZE}" fill="none" stroke="#888" />`,
    `<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#888" stroke-dasharray="4" />`,
    ...ticks,
    ...rings,
    ...dots,
    `<circle cx="${plotLeft}" cy="${plotTop - 4}" r="5" fill="none" stroke="#b55" stroke-width="1.5" /><text x="${plotLeft + 12}" y="${plotTop}">before</text>`,
    `<circle cx="${plotLeft}" cy="${plotTop + 14}" r="5" fill="#246" /><text x="${plotLeft + 12}" y="${plotTop + 18}">calibrated</text>`,
    `<text x="${side / 2}" y="${side - 16}" text-anchor="middle">stated probability of the most probable answer</text>`,
    `<text x="14" y="${side / 2}" text-anchor="middle" transform="rotate(-90 14 ${side / 2})">share of right answers</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
