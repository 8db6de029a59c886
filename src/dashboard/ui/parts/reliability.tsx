// A reliability diagram, drawn from its bins as SVG. A table below it has the same figures.

import type { ReliabilityBin } from "../../contract.ts";
import { percent } from "./time.tsx";

const SIZE = 260;
const LEFT = 40;
const BOTTOM = 36;
const TOP = 10;
const RIGHT = 12;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
/** The radius of the smallest dot, and the most that a full bin adds to it. */
const DOT = 3;
const DOT_MORE = 4;

const x = (value: number) => LEFT + value * SIZE;
const y = (value: number) => TOP + (1 - value) * SIZE;

/** The diagram after a fit; the values before the fit are drawn paler. */
export function Reliability(props: {
  title: string;
  bins: readonly ReliabilityBin[];
  before: readonly ReliabilityBin[];
}) {
  const { title, bins, before } = props;
  return (
    <figure class="card reliability">
      <figcaption>{title}</figcaption>
      <svg
        viewBox={`0 0 ${LEFT + SIZE + RIGHT} ${TOP + SIZE + BOTTOM}`}
        role="img"
        aria-label={`${title}: accuracy by stated probability`}
      >
        {TICKS.map((tick) => (
          <g key={tick} class="tick">
            <line x1={x(0)} x2={x(1)} y1={y(tick)} y2={y(tick)} />
            <line x1={x(tick)} x2={x(tick)} y1={y(0)} y2={y(1)} />
            <text x={x(0) - 6} y={y(tick) + 4} text-anchor="end">
              {tick * 100}
            </text>
            <text x={x(tick)} y={y(0) + 15} text-anchor="middle">
              {tick * 100}
            </text>
          </g>
        ))}
        <text x={x(0.5)} y={y(0) + 31} text-anchor="middle">
          stated probability, %
        </text>
        <text class="upright" x={-y(0.5)} y={10} text-anchor="middle">
          accuracy, %
        </text>
        <line class="ideal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
        <Dots bins={before} name="before" />
        <Dots bins={bins} name="after" />
      </svg>
      <ul class="legend">
        <li class="legend-entry">
          <span class="swatch dot before" /> before
        </li>
        <li class="legend-entry">
          <span class="swatch dot after" /> after
        </li>
      </ul>
      <details>
        <summary>Figures</summary>
        <BinTable bins={before} name="Before" />
        <BinTable bins={bins} name="After" />
      </details>
    </figure>
  );
}

function Dots({ bins, name }: { bins: readonly ReliabilityBin[]; name: string }) {
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  return (
    <g class={name}>
      {bins.map(({ confidence, accuracy }, at) => (
        <line key={`gap ${at}`} x1={x(confidence)} x2={x(confidence)} y1={y(confidence)} y2={y(accuracy)} />
      ))}
      {bins.map(({ confidence, accuracy, rows }, at) => (
        // The index is the key, since bins keep their order and two of them may have the same values.
        <circle key={`${at}`} cx={x(confidence)} cy={y(accuracy)} r={DOT + DOT_MORE * Math.sqrt(rows / most) * 0.5}>
          <title>{`stated ${percent(confidence)}, accuracy ${percent(accuracy)}, ${rows} rows`}</title>
        </circle>
      ))}
    </g>
  );
}

function BinTable({ bins, name }: { bins: readonly ReliabilityBin[]; name: string }) {
  if (bins.length === 0) return null;
  return (
    <table class="bins">
      <caption>{name}</caption>
      <thead>
        <tr>
          <th class="number">Stated probability</th>
          <th class="number">Accuracy</th>
          <th class="number">Rows</th>
        </tr>
      </thead>
      <tbody>
        {bins.map(({ confidence, accuracy, rows }, at) => (
          <tr key={`${at}`}>
            <td class="number">{percent(confidence)}</td>
            <td class="number">{percent(accuracy)}</td>
            <td class="number">{rows}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
