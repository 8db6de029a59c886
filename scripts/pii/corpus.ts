// Texts with personal data planted in them, and others with what looks like it: orders, versions, dates, prices, checksums. All are
// made up; the same seed gives the same texts.

/** What guardrails of the kind `pii` find. */
export const PII_KINDS = ["email", "phone", "card", "iban", "ip", "secret"] as const;
export type PiiKind = (typeof PII_KINDS)[number];

/** A text, and what is planted in it. */
export interface PlantedText {
  readonly locale: string;
  readonly text: string;
  readonly planted: readonly { readonly kind: PiiKind; readonly start: number; readonly end: number }[];
}

interface Locale {
  readonly names: readonly string[];
  readonly domain: string;
  /** Where a value stands; `#` is its place. */
  readonly frames: readonly string[];
  /** Where a telephone number stands without a prefix of its country. */
  readonly called: readonly string[];
  /** The forms of numbers with the prefix of the country, and without; `9` is any digit. */
  readonly international: readonly string[];
  readonly national: readonly string[];
  readonly iban: { readonly country: string; readonly form: string } | undefined;
}

const LOCALES: Readonly<Record<string, Locale>> = {
  "en-US": {
    names: ["Ada Lopez", "Bob Miller", "Grace Kim"],
    domain: "example.com",
    frames: ["Please use # for this.", "My details: #", "(#) was on the form", 'Is "#" still right?'],
    called: ["Call me at #.", "Phone: #", "You can text my cell # tonight."],
    international: ["+1 212 555 0999", "+1-415-555-0999", "+1 (646) 555-0999"],
    national: ["(212) 555-0999", "415-555-0999", "646.555.0999"],
    iban: undefined,
  },
  "en-GB": {
    names: ["Oliver Smith", "Isla O'Neill"],
    domain: "mail.example.co.uk",
    frames: ["Kindly note # for our records.", "It reads # on the letter.", "#, as I said."],
    called: ["My mobile is #.", "Tel: #", "Ring us, telephone #, any time."],
    international: ["+44 7911 099999", "+44 20 7946 0999", "+447911099999"],
    national: ["07911 099999", "020 7946 0999"],
    iban: { country: "GB", form: "^^^^99999999999999" },
  },
  de: {
    names: ["Jörg Müller", "Anna Weiß"],
    domain: "beispiel.example.de",
    frames: ["Bitte notieren Sie #.", "Im Vertrag steht #, richtig?", "Meine Angabe: #"],
    called: ["Telefon: #", "Rufnummer # bitte.", "Mein Handy: #"],
    international: ["+49 30 901820999", "+49 151 23456999", "+49 (0)89 5599999"],
    national: ["030 901820999", "0151/23456999", "089 5599999"],
    iban: { country: "DE", form: "999999999999999999" },
  },
  fr: {
    names: ["Chloé Dubois", "Rémi Lefèvre"],
    domain: "courrier.example.fr",
    frames: ["Voici # pour le dossier.", "J'ai noté « # » hier.", "Il faut # avant lundi."],
    called: ["Tél : #", "Mon portable : #", "Téléphone #"],
    international: ["+33 6 39 98 99 99", "+33 1 99 00 99 99"],
    national: ["06 39 98 99 99", "01.99.00.99.99"],
    iban: { country: "FR", form: "9999999999^^^^^^^^^^^99" },
  },
  es: {
    names: ["Lucía Pérez", "José Núñez"],
    domain: "correo.example.es",
    frames: ["Apunte # por favor.", "En la ficha pone #.", "¿Es # correcto?"],
    called: ["Teléfono: #", "Mi móvil es #.", "Tel. #"],
    international: ["+34 612 999 999", "+34 91 999 99 99"],
    national: ["612 99 99 99", "912 999 999"],
    iban: { country: "ES", form: "99999999999999999999" },
  },
  it: {
    names: ["Giulia Rossi", "Luca Bianchi"],
    domain: "posta.example.it",
    frames: ["Annoti # per favore.", "Nel modulo c'è #.", "Confermo: #"],
    called: ["Telefono: #", "Cellulare #", "Tel: #"],
    international: ["+39 347 999 9999", "+39 06 9999 9999"],
    national: ["347 999 9999", "06 9999 9999"],
    iban: { country: "IT", form: "^9999999999999999999999" },
  },
  nl: {
    names: ["Sanne de Vries", "Daan Jansen"],
    domain: "post.example.nl",
    frames: ["Noteer # a.u.b.", "Op de brief staat #.", "Klopt # nog?"],
    called: ["Telefoon: #", "Mobiel: #", "Tel. #"],
    international: ["+31 6 12999999", "+31 20 999 9999"],
    national: ["06-12999999", "020 999 9999"],
    iban: { country: "NL", form: "^^^^9999999999" },
  },
  pl: {
    names: ["Zofia Nowak", "Paweł Wójcik"],
    domain: "poczta.example.pl",
    frames: ["Proszę zapisać #.", "W umowie jest #, prawda?", "Podaję: #"],
    called: ["Telefon: #", "Tel.: #", "Telefon komórka: #"],
    international: ["+48 601 999 999", "+48 22 999 99 99"],
    national: ["601 999 999", "22 999 99 99"],
    iban: { country: "PL", form: "999999999999999999999999" },
  },
};

/** What looks like personal data and is none; `9` is any digit, `~` any hexadecimal one, `^` any capital letter, `*` any letter or digit. */
const HARD: readonly string[] = [
  ...["Order 9999999999 shipped.", "Invoice no. 2024-999999", "Bestellnummer 99999999999", "Ticket #9999999"],
  ...["Version 1.9.9.9 is out.", "v2.99.9-rc.9", "Chrome/129.0.6999.99", "Release 2024.9.99"],
  ...["On 2024-09-19 at 12:39:49", "19.09.2024, 9:39 Uhr", "09/19/2024", "from 2019-2023 to 2024-2029"],
  ...["It costs 1,999,999.99 USD", "1.999.999,99 €", "99 999 zł", "$ 9999.99"],
  ...["commit ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~", "id ~~~~~~~~-~~~~-4~~~-8~~~-~~~~~~~~~~~~", "#~~~~~~"],
  ...["ISBN 978-9-99-999999-9", "DOI 10.9999/aaa.9999.99999", "arXiv 2999.99999", "RFC 9999, section 9.9.9"],
  ...["@handle9 and @scope/pkg@9.9.9", "me@localhost", "a @ b", "std::vector<int>::at(9)", "12:39:49.999999"],
  ...["lat 52.999999, lon 13.999999", "1e99 / 9.99e-99", "timestamp 1719999999999", "9999 x 9999 px"],
  ...["sk-learn 1.9", "the task-force of 9999", "hf hub", "AKIA is a prefix", "parcel ^^999999999^^"],
  ...["127.0.0.1:9999", "0.0.0.0", "localhost:9999", "section 9.9.9.9.9", "EAN 4999999999999 is on the box"],
];

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** What the characters of forms stand for. */
const CHARACTERS: Readonly<Record<string, string>> = {
  "9": "0123456789",
  "~": "0123456789abcdef",
  "^": CAPITALS,
  "*": `${CAPITALS}${CAPITALS.toLowerCase()}0123456789`,
  _: `${CAPITALS}234567`,
};

class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Fills a form. */
  filled(form: string): string {
    return form.replace(/[9~^*_]/g, (char) => this.of([...(CHARACTERS[char] ?? char)]));
  }
}

function emailOf(random: Random, { names, domain }: Locale): string {
  const [first = "", last = ""] = random.of(names).toLowerCase().replaceAll("'", "").split(" ");
  const plain = `${first}${random.of([".", "_", "-", "+"])}${last}`.normalize("NFD").replace(/\p{M}/gu, "");
  return `${plain.replace(/[^a-z0-9._+-]/g, "")}${random.below(100)}@${domain}`;
}

function cardOf(random: Random): string {
  const digits = random.filled(random.of(["411199999999999", "555599999999999", "37829999999999"]));
  const sum = [...digits].reverse().reduce((all, digit, at) => {
    const value = at % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return all + (value > 9 ? value - 9 : value);
  }, 0);
  const card = digits + String((10 - (sum % 10)) % 10);
  const gap = random.of(["", " ", "-"]);
  const groups = card.length === 15 ? [card.slice(0, 4), card.slice(4, 10), card.slice(10)] : card.match(/.{4}/g)!;
  return groups.join(gap);
}

function ibanOf(random: Random, { country, form }: NonNullable<Locale["iban"]>): string {
  const account = random.filled(form);
  const value = [...`${account}${country}00`].map((char) => String(Number.parseInt(char, 36))).join("");
  const check = String(98n - (BigInt(value) % 97n)).padStart(2, "0");
  const whole = `${country}${check}${account}`;
  return random.below(2) === 0 ? whole : whole.match(/.{1,4}/g)!.join(" ");
}

function secretOf(random: Random): string {
  const letters = (count: number) => random.filled("*".repeat(count));
  return random.of([
    () => `sk-proj-${letters(40)}`,
    () => `ghp_${letters(36)}`,
    () => `AKIA${random.filled("_".repeat(16))}`,
    () => `xoxb-${random.filled("9999999999-9999999999")}-${letters(24)}`,
    () => `AIza${letters(35)}`,
    () => `glpat-${letters(20)}`,
  ])();
}

function ipOf(random: Random): string {
  const part = () => random.below(256);
  if (random.below(3) === 0) return random.filled("2001:db8:~~~~:~::~~~").replace(/:0+(?=[\da-f])/g, ":");
  return `${random.of([203, 198, 45, 91])}.${part()}.${part()}.${1 + random.below(254)}`;
}

function plantedIn(random: Random, locale: Locale, kind: PiiKind): { readonly frame: string; readonly value: string } {
  const frame = random.of(locale.frames);
  switch (kind) {
    case "email":
      return { frame, value: emailOf(random, locale) };
    case "card":
      return { frame, value: cardOf(random) };
    case "iban":
      return { frame, value: ibanOf(random, locale.iban ?? LOCALES["de"]!.iban!) };
    case "ip":
      return { frame, value: ipOf(random) };
    case "secret":
      return { frame, value: secretOf(random) };
    case "phone": {
      const isNational = random.below(2) === 0;
      const value = random.filled(random.of(isNational ? locale.national : locale.international));
      return { frame: isNational ? random.of(locale.called) : frame, value };
    }
  }
}

/** Makes texts: of each kind as many as of those with nothing to find. */
export function plantedTexts(count: number, seed = 1): PlantedText[] {
  const random = new Random(seed);
  const locales = Object.entries(LOCALES);
  return Array.from({ length: count }, (_, at) => {
    const [name, locale] = locales[at % locales.length]!;
    const hard = () => random.filled(random.of(HARD));
    const kind = PII_KINDS[Math.floor(at / locales.length) % (PII_KINDS.length * 2)];
    if (kind === undefined) return { locale: name, text: `${hard()} ${hard()}`, planted: [] };
    const { frame, value } = plantedIn(random, locale, kind);
    const before = `${hard()}\n${frame.slice(0, frame.indexOf("#"))}`;
    const text = `${before}${value}${frame.slice(frame.indexOf("#") + 1)}\n${hard()}`;
    return { locale: name, text, planted: [{ kind, start: before.length, end: before.length + value.length }] };
  });
}
