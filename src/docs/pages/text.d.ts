// Files that the pages are made of, carried inside the program: `import text from "./x.md" with { type: "text" }`.
declare module "*.md" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: The bundler gives a file as the default.
  export default text;
}
declare module "*.client.js" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: The bundler gives a file as the default.
  export default text;
}
declare module "*/icon.svg" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: The bundler gives a file as the default.
  export default text;
}
declare module "*.docs.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: The bundler gives a file as the default.
  export default text;
}
