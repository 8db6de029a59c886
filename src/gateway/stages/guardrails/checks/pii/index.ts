// What the check `pii` can find: one file each.

import type { TextCheck } from "../check.ts";
import { cardCheck } from "./card.ts";
import { emailCheck } from "./email.ts";
import { ibanCheck } from "./iban.ts";
import { ipV4Check, ipV6Check } from "./ip.ts";
import { phoneCheck } from "./phone.ts";
import { secretCheck } from "./secret.ts";

/** The checks of each kind, by its name in the configuration. */
export const PII_CHECKS = {
  email: [emailCheck],
  phone: [phoneCheck],
  card: [cardCheck],
  iban: [ibanCheck],
  ip: [ipV4Check, ipV6Check],
  secret: [secretCheck],
} as const satisfies Record<string, readonly TextCheck[]>;
