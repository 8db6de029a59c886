// Data files embedded in the program: `import path from "./x.zst" with { type: "file" }` returns a readable path.
declare module "*.zst" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: The bundler gives a file as the default.
  export default path;
}
