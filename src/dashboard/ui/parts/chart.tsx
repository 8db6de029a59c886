// A chart of stacked bars, one for each day, hour or minute. It is drawn as SVG, so that it scales, prints and uses the
// page's colours. A table with the same figures serves screen readers.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { dayText, exactTime, zonedTime } from "./time.tsx";

/** The values of one colour. */
export interface Series {
  readonly name: string;
  /** One value for each bar. */
  readonly values: readonly number[];
}

/** The width in use until the page's real width is measured. */
const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 46;
const BOTTOM = 22;
const TOP = 8;
const TICKS = 4;
/** The width of a label, including a gap before the next one. */
const LABEL_WIDTH = 64;
const LONG_LABEL_WIDTH = 92;
/** Half the width of a label, so that the last one is not cut off. */
const EDGE = 16;
const LONG_EDGE = 36;
const DAY_HOURS = 24;

/** The chart. `format` formats a value; `what` describes the values; `whole`: ticks only at whole numbers. */
export function Bars(props: {
  whole: boolean;
  days: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  what: string;
  /** The span of a bar; `days` are the starts, as `2030-12-31` or in full. */
  unit?: "minute" | "hour" | "day";
  /** The time zone of hours and minutes; the reader's by default. */
  timeZone?: string | undefined;
}) {
  const { days, series, format, what, whole, unit = "day", timeZone } = props;
  const [frame, width] = useWidth();
  const at = useSignal<number | undefined>(undefined);
  const totals = days.map((_, day) => series.reduce((sum, one) => sum + (one.values[day] ?? 0), 0));
  const most = niceTop(Math.max(...totals, 0));
  const top = whole ? Math.ceil(most / TICKS) * TICKS : most;
  const step = (width - LEFT) / days.length;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const labels = labelsOf(days, unit, timeZone);
  const every = Math.ceil((days.length * labels.width) / (width - LEFT));
  const shown = at.value;
  return (
    <figure class="chart" ref={frame}>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`${what} by ${unit}`}
        onMouseLeave={() => (at.value = undefined)}
      >
        {Array.from({ length: TICKS + 1 }, (_, tick) => (top / TICKS) * tick).map((value) => (
          <g key={value} class="tick">
            <line x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        {days.map((day, index) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the table contains the same figures.
          <g key={day} class={shown === index ? "day here" : "day"} onMouseEnter={() => (at.value = index)}>
            <rect class="reach" x={LEFT + index * step} y={TOP} width={step} height={HEIGHT - TOP - BOTTOM} />
            {stacked(series, index).map(({ from, to, colour }) => (
              <rect
                key={colour}
                class={`c${colour}`}
                x={LEFT + index * step + step * 0.14}
                width={step * 0.72}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
              />
            ))}
            {(days.length - 1 - index) % every === 0 && (
              <text x={Math.min(LEFT + (index + 0.5) * step, width - labels.edge)} y={HEIGHT - 6} text-anchor="middle">
                {labels.text(day)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <figcaption>
        <span class="day-name">
          {shown === undefined ? `${what} by ${unit}` : slotText(days[shown] ?? "", unit, timeZone)}
        </span>
        <ul class="legend">
          {series.map((one, colour) => (
            <li key={one.name} class="legend-entry">
              <span class={`swatch c${colour}`} />
              {one.name} <b>{format(shown === undefined ? sum(one.values) : (one.values[shown] ?? 0))}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <Figures {...{ days, totals, what, format, unit }} />
    </figure>
  );
}

/** The labels of the bars: days are UTC days, shorter spans use this time zone, the reader's by default. */
export function labelsOf(starts: readonly string[], unit: string, timeZone?: string) {
  const short = { width: LABEL_WIDTH, edge: EDGE };
  if (unit === "day")
    return { ...short, text: (day: string) => `${Number(day.slice(5, 7))}/${Number(day.slice(8, 10))}` };
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone });
  const time = (start: string) => clock.format(new Date(start));
  if (unit !== "hour" || starts.length <= DAY_HOURS) return { ...short, text: time };
  // Over several days a time alone is ambiguous.
  const date = new Intl.DateTimeFormat("en-US", { month: "numeric", day: "numeric", timeZone });
  const text = (start: string) => `${date.format(new Date(start))} ${time(start)}`;
  return { width: LONG_LABEL_WIDTH, edge: LONG_EDGE, text };
}

/** The time that a bar covers. */
export function slotText(day: string, unit: string, timeZone?: string): string {
  if (unit === "day") return dayText(`${day.slice(0, 10)}T12:00:00Z`);
  return timeZone === undefined ? exactTime(day) : zonedTime(day, timeZone);
}

/** The figures as a table for screen readers. */
function Figures(props: {
  days: readonly string[];
  totals: readonly number[];
  what: string;
  format: (value: number) => string;
  unit: string;
}) {
  const { days, totals, what, format, unit } = props;
  return (
    // Set on a wrapper, since a table ignores a height below that of its rows.
    <div class="off-screen">
      <table>
        <caption>
          {what} by {unit}
        </caption>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>{format(totals[index] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Measures the width of a figure, so that one unit of the drawing is one pixel and its text has the usual size. */
export function useWidth() {
  const frame = useRef<HTMLElement>(null);
  const width = useSignal(WIDTH);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const measure = () => {
      if (element.clientWidth > 0) width.value = element.clientWidth;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [frame, width.value] as const;
}

function stacked(series: readonly Series[], day: number): { from: number; to: number; colour: number }[] {
  let from = 0;
  return series.flatMap((one, colour) => {
    const value = one.values[day] ?? 0;
    if (value <= 0) return [];
    const piece = { from, to: from + value, colour };
    from += value;
    return [piece];
  });
}

/** The next round number, so that the ticks are round numbers too. */
function niceTop(most: number): number {
  if (most <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(most));
  const factor = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].find((one) => one * size >= most) ?? 10;
  return factor * size;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
