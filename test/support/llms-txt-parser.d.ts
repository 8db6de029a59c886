// The package has no types of its own.
declare module "llms-txt-parser" {
  class LlmsTextParser {
    parse(text: string): {
      title?: string;
      overview: string | null;
      links: { title: string; url: string; description: string; section?: string }[];
      error?: string;
    };
  }
  export = LlmsTextParser;
}
