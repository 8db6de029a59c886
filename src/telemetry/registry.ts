// Counters, histograms and gauges in the Prometheus text format. Counting allocates nothing once a series exists; the number
// of series per metric is bounded: above it, further label values are counted together as "other".

/** Label values of one series; at most three. */
export type LabelValues = readonly string[];

/** A number that only grows. */
export class Counter {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
}

/** Observations in fixed buckets. */
export class Histogram {
  readonly bounds: readonly number[];
  /** Not cumulative; the last one counts what exceeds every bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.bounds.length && value > this.bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

/** Series of one metric per label values. */
export class Family<S> {
  readonly #make: () => S;
  readonly #depth: number;
  // Nested maps, one level for each label, so that a look-up need not build a key.
  readonly #root = new Map<string, unknown>();
  #series = 0;

  constructor(labels: readonly string[], make: () => S) {
    this.#depth = labels.length;
    this.#make = make;
  }

  /** The series of these label values, as many as the metric has labels. */
  get(a = "", b = "", c = ""): S {
    let node = this.#root;
    for (let at = 0; at < this.#depth - 1; at++) {
      const value = at === 0 ? a : b;
      let next = node.get(value) as Map<string, unknown> | undefined;
      if (next === undefined) {
        if (this.#full(a)) return this.get(OTHER, OTHER, OTHER);
        next = new Map();
        node.set(value, next);
      }
      node = next;
    }
    const last = this.#depth === 1 ? a : this.#depth === 2 ? b : c;
    const known = node.get(last) as S | undefined;
    if (known !== undefined) return known;
    if (this.#full(a)) return this.get(OTHER, OTHER, OTHER);
    const made = this.#make();
    node.set(last, made);
    this.#series++;
    return made;
  }

  /** Every series with its label values. */
  *entries(): Generator<readonly [LabelValues, S]> {
    yield* walk<S>(this.#root, [], this.#depth);
  }

  /** "other" always has space: it has few series. */
  #full(a: string): boolean {
    return this.#series >= SERIES_MAX && a !== OTHER;
  }
}

/** Calculates a gauge's values when the page is rendered. */
export type GaugeReading = Iterable<readonly [LabelValues, number]>;

/** More label values than this indicate a mistake or an attack. */
const SERIES_MAX = 1000;
const OTHER = "other";

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "histogram" | "gauge";
  readonly lines: () => string[];
}

/** The metrics of a process. */
export class Registry {
  readonly #metrics: Metric[] = [];

  counter(name: string, help: string, labels: readonly string[]): Family<Counter> {
    const family = new Family(labels, () => new Counter());
    // A counter without labels exists from the start, at 0.
    if (labels.length === 0) family.get();
    this.#add(name, help, "counter", () =>
      [...family.entries()].map(([values, series]) => line(name, labels, values, series.value)),
    );
    return family;
  }

  histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Family<Histogram> {
    const family = new Family(labels, () => new Histogram(bounds));
    if (labels.length === 0) family.get();
    this.#add(name, help, "histogram", () =>
      [...family.entries()].flatMap(([values, series]) => histogramLines(name, labels, values, series)),
    );
    return family;
  }

  /** `read` is called at every rendering; it must be cheap and bounded. */
  gauge(name: string, help: string, labels: readonly string[], read: () => GaugeReading): void {
    this.#add(name, help, "gauge", () => [...read()].map(([values, value]) => line(name, labels, values, value)));
  }

  /** A number that only grows and is counted elsewhere; `read` as for a gauge. */
  counted(name: string, help: string, labels: readonly string[], read: () => GaugeReading): void {
    this.#add(name, help, "counter", () => [...read()].map(([values, value]) => line(name, labels, values, value)));
  }

  /** Prometheus text, version 0.0.4. */
  render(): string {
    let out = "";
    for (const { name, help, type, lines } of this.#metrics) {
      out += `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
      for (const text of lines()) out += `${text}\n`;
    }
    return out;
  }

  #add(name: string, help: string, type: Metric["type"], lines: () => string[]): void {
    if (this.#metrics.some((metric) => metric.name === name)) throw new Error(`Two metrics are called ${name}.`);
    this.#metrics.push({ name, help, type, lines });
  }
}

function* walk<S>(node: Map<string, unknown>, path: LabelValues, depth: number): Generator<readonly [LabelValues, S]> {
  for (const [value, next] of node) {
    const values = depth === 0 ? path : [...path, value];
    if (values.length >= depth) yield [values, next as S];
    else yield* walk<S>(next as Map<string, unknown>, values, depth);
  }
}

function histogramLines(name: string, labels: readonly string[], values: LabelValues, series: Histogram): string[] {
  const lines: string[] = [];
  let total = 0;
  series.counts.forEach((count, at) => {
    total += count;
    const bound = series.bounds[at];
    const le = bound === undefined ? "+Inf" : String(bound);
    lines.push(line(`${name}_bucket`, [...labels, "le"], [...values, le], total));
  });
  lines.push(line(`${name}_sum`, labels, values, series.sum), line(`${name}_count`, labels, values, total));
  return lines;
}

function line(name: string, labels: readonly string[], values: LabelValues, value: number): string {
  if (labels.length === 0) return `${name} ${number(value)}`;
  const pairs = labels.map((label, at) => `${label}="${escapeLabel(values[at] ?? "")}"`);
  return `${name}{${pairs.join(",")}} ${number(value)}`;
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
