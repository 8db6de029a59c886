// Data files carried inside the program: `import path from "./x.zst" with { type: "file" }` gives a path to read.
declare module "*.zst" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: The bundler gives a file as the default.
  export default path;
}
