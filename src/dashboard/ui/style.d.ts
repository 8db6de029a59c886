// Style sheets are imported only so that the bundler includes them; the import has no value.
declare module "*.css";
