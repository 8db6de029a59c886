// Styles are imported for the bundler's sake; they give nothing.
declare module "*.css";
