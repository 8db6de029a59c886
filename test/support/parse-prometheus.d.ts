// The package has no types of its own.
declare module "parse-prometheus-text-format" {
  const parse: (text: string) => unknown;
  export = parse;
}
