// A chart of horizontal bars, one for each group, the longest first.

/** A group and its value. */
export interface Ranked {
  readonly key: string;
  readonly name: string;
  readonly value: number;
}

/** More bars would repeat the table below. */
const BARS_MAX = 12;

/** The chart. `what` describes the values. */
export function GroupBars(props: { what: string; groups: readonly Ranked[]; format: (value: number) => string }) {
  const { what, groups, format } = props;
  const shown = groups
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value)
    .slice(0, BARS_MAX);
  const most = shown[0]?.value ?? 0;
  if (most === 0) return <p>{what}: none in this span.</p>;
  return (
    <ol class="ranking" aria-label={what}>
      {shown.map(({ key, name, value }) => (
        <li key={key} class="ranked">
          <span class="long">{name}</span>
          <b>{format(value)}</b>
          <span class="ranked-track" aria-hidden="true">
            <span class="c0" style={{ width: `${(value / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ol>
  );
}
