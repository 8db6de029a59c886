// A line chart over time with a scale that starts at zero. A table with the same figures serves screen readers.

import { labelsOf, slotText, useWidth } from "./chart.tsx";

/** One line; a value is null where nothing was measured. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

const HEIGHT = 200;
const LEFT = 56;
const TOP = 8;
const BOTTOM = 22;
const TICKS = 4;

export function Lines(props: {
  starts: readonly string[];
  unit: "minute" | "hour" | "day";
  lines: readonly Line[];
  format: (value: number) => string;
  what: string;
}) {
  const { starts, unit, lines, format, what } = props;
  const [frame, width] = useWidth();
  const labels = labelsOf(starts, unit);
  const every = Math.ceil((starts.length * labels.width) / (width - LEFT));
  const top = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))) * 1.05;
  const x = (at: number) => LEFT + ((width - LEFT) * (at + 0.5)) / starts.length;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  return (
    <figure class="chart" ref={frame}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${what} by ${unit}`}>
        {Array.from({ length: TICKS + 1 }, (_, tick) => (top / TICKS) * tick).map((value) => (
          <g key={value} class="tick">
            <line x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {format(Math.round(value))}
            </text>
          </g>
        ))}
        {starts.map(
          (start, at) =>
            (starts.length - 1 - at) % every === 0 && (
              <text key={start} x={Math.min(x(at), width - labels.edge)} y={HEIGHT - 6} text-anchor="middle">
                {labels.text(start)}
              </text>
            ),
        )}
        {lines.map(({ name, values }, colour) => (
          <g key={name} class={`line l${colour}`}>
            <path d={pathOf(values, x, y)} />
            {values.map((value, at) =>
              value === null ? null : <circle key={starts[at]} cx={x(at)} cy={y(value)} r="2.5" />,
            )}
          </g>
        ))}
      </svg>
      <figcaption>
        <span class="day-name">
          {what} by {unit}
        </span>
        <ul class="legend">
          {lines.map(({ name }, colour) => (
            <li key={name} class="legend-entry">
              <span class={`swatch c${colour}`} />
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="off-screen">
        <table>
          <caption>
            {what} by {unit}
          </caption>
          <tbody>
            {starts.map((start, at) => (
              <tr key={start}>
                <th scope="row">{slotText(start, unit)}</th>
                {lines.map(({ name, values }) => (
                  <td key={name}>
                    {name} {values[at] == null ? "–" : format(values[at])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** The path of a line. Adjacent values are connected; missing values leave a gap. */
function pathOf(values: readonly (number | null)[], x: (at: number) => number, y: (value: number) => number): string {
  let joined = false;
  return values
    .map((value, at) => {
      if (value === null) {
        joined = false;
        return "";
      }
      const step = `${joined ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      joined = true;
      return step;
    })
    .join("");
}
