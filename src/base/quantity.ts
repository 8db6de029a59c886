// Durations and sizes as people write them in the config: `500ms`, `15s`, `10m`, `24h`, `30d`; `64KiB`, `20MiB`.

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  KB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
};

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text.trim());
  const factor = match?.[2] === undefined ? undefined : units[match[2]];
  if (match?.[1] === undefined || factor === undefined) return undefined;
  const value = Math.round(Number(match[1]) * factor);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Milliseconds of a duration such as `15s`; undefined if invalid. */
export function parseDurationMs(text: string): number | undefined {
  return parse(text, DURATION_MS);
}

/** Bytes of a size such as `20MiB`; undefined if invalid. */
export function parseSizeBytes(text: string): number | undefined {
  return parse(text, SIZE_BYTES);
}
