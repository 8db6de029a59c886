// A small chart of a few counts. Screen readers announce it as a sentence.

import { short } from "./time.tsx";

const WIDTH = 8;
const HEIGHT = 18;

/** One column for each day, today last. */
export function Spark({ counts }: { counts: readonly number[] }) {
  const sum = counts.reduce((all, one) => all + one, 0);
  const most = Math.max(1, ...counts);
  return (
    <span class="spark">
      <svg
        width={counts.length * WIDTH}
        height={HEIGHT}
        role="img"
        aria-label={`Requests by day: ${counts.join(", ")}`}
      >
        {counts.map((one, day) => {
          const height = one === 0 ? 1 : Math.max(3, Math.round((one / most) * HEIGHT));
          return (
            <rect
              key={`day ${day - counts.length}`}
              x={day * WIDTH}
              y={HEIGHT - height}
              width={WIDTH - 2}
              height={height}
            />
          );
        })}
      </svg>{" "}
      {short(sum)}
    </span>
  );
}
