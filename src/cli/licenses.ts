// `sallyport licenses`: the licences of the program and of the packages inside it.

import type { Command } from "./command.ts";
import { CommandError } from "./failure.ts";
import { licenceTexts } from "./licence-texts.ts";

export const licensesCommand: Command = {
  summary: "print the licences of the program and of the packages inside it",
  examples: ["sallyport licenses"],
  async run(context) {
    const texts = await licenceTexts();
    if (texts === undefined)
      throw new CommandError("The program runs from its sources: the licences are in LICENSE and in node_modules.");
    context.out(texts);
    return 0;
  },
};
