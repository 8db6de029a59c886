import { describe, expect, test } from "bun:test";
import { answerFromStructured } from "../../../src/web/extract/from-structured.ts";
import { ld, number, object, PRODUCT, page, text, URL } from "./described.ts";

test("a product under the caller's own names", () => {
  const schema = object({
    product_name: text,
    price: number,
    currency: text,
    brand: { type: ["string", "null"] },
    inStock: { type: "boolean" },
    availability: { enum: ["in_stock", "out_of_stock"] },
    images: { type: "array", items: text },
    rating: number,
    review_count: { type: "integer" },
    reviews: { type: "array", items: object({ author: text, reviewBody: text }) },
  });
  const { value, sources, missing } = answerFromStructured(schema, [page(ld(PRODUCT))]);
  expect(missing).toEqual([]);
  expect(value).toEqual({
    product_name: "Blue Kettle",
    price: 19.9,
    currency: "EUR",
    brand: "Acme",
    inStock: true,
    availability: "in_stock",
    images: ["https://shop.example.com/k.jpg"],
    rating: 4.5,
    review_count: 12,
    reviews: [
      { author: "Ann", reviewBody: "Good." },
      { author: "Ben", reviewBody: "Fine." },
    ],
  });
  expect(sources["price"]).toEqual([{ url: URL, quote: "19.90" }]);
  expect(sources["reviews"]?.map(({ quote }) => quote)).toEqual(["Ann", "Good.", "Ben", "Fine."]);
});

test("absent values are null, and their paths are listed as missing", () => {
  const schema = object({
    name: text,
    warranty: text,
    reviews: { type: "array", items: object({ author: text, date: text }) },
  });
  const { value, missing } = answerFromStructured(schema, [page(ld(PRODUCT))]);
  expect(value).toMatchObject({ name: "Blue Kettle", warranty: null, reviews: [{ author: "Ann" }, { author: "Ben" }] });
  expect(missing).toEqual(["warranty", "reviews[].date"]);
});

describe("ambiguous values are missing", () => {
  const other = { ...PRODUCT, name: "Red Kettle", sku: "K-2", offers: { price: 5 } };
  test.each<[string, string, object]>([
    ["two products", ld(PRODUCT, other), { name: text, price: number }],
    ["two prices", ld({ ...PRODUCT, offers: [{ price: 5 }, { price: 6 }] }), { price: number }],
    ["several authors for one", ld({ "@type": "Article", author: [{ name: "A" }, { name: "B" }] }), { author: text }],
    ["a point or a comma", ld({ ...PRODUCT, offers: { price: "1,299" } }), { price: number }],
    ["a unit that the field does not name", ld({ "@type": "Product", weight: "1.2 kg" }), { weight: number }],
    ["a number with words", ld({ "@type": "Product", depth: "about 5" }), { depth: number }],
    [
      "a date that is none",
      ld({ "@type": "Event", startDate: "next week" }),
      { startDate: { type: "string", format: "date" } },
    ],
    ["a bare number where a unit is asked for", ld({ "@type": "Product", weight: 1.2 }), { weight_kg: number }],
    [
      "a time without a zone",
      ld({ "@type": "Event", startDate: "2026-05-01T10:00" }),
      { start: { type: "string", format: "date-time" } },
    ],
    ["a value outside the list", ld(PRODUCT), { availability: { enum: ["yes", "no"] } }],
    [
      "a text that may be a list",
      ld({ "@type": "Recipe", recipeIngredient: "salt, water" }),
      { ingredients: { type: "array", items: text } },
    ],
    ["a table with two values of a name", "<dl><dt>Weight</dt><dd>1</dd><dd>2</dd></dl>", { weight: number }],
    [
      "a price that readers are shown otherwise",
      `${ld(PRODUCT)}<dl><dt>Price</dt><dd>€ 24.90</dd></dl>`,
      { price: number },
    ],
    [
      "the title of another thing",
      ld({ "@type": "VideoObject", name: "Film" }),
      { title: text, price: number, sku: text },
    ],
  ])("%s", (_name, html, properties) => {
    const { value, missing } = answerFromStructured(object(properties), [page(html)]);
    expect(missing).toEqual(Object.keys(properties));
    expect(Object.values(value as object).every((one) => one === null)).toBe(true);
  });
});

describe("unambiguous values are found", () => {
  test.each<[string, string, object, unknown]>([
    [
      "the product that is the page",
      ld({ ...PRODUCT, url: "/kettle" }, { ...PRODUCT, name: "Other", url: "/other" }),
      { name: text },
      { name: "Blue Kettle" },
    ],
    [
      "one product in two forms",
      `${ld(PRODUCT)}<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Blue Kettle</b><b itemprop="color">blue</b></div>`,
      { sku: text, color: text },
      { sku: "K-1", color: "blue" },
    ],
    [
      "microdata alone",
      `<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Pan</b><div itemprop="offers" itemscope><b itemprop="price">€1.299,00</b></div></div>`,
      { title: text, price: number },
      { title: "Pan", price: 1299 },
    ],
    [
      "a table alone",
      "<table><tr><td>Weight (kg)</td><td>1.2</td></tr><tr><td>Serial no.</td><td>5</td></tr></table>",
      { weight_kg: number, serial_no: text },
      { weight_kg: 1.2, serial_no: "5" },
    ],
    [
      "a unit that the field names",
      ld({ "@type": "Product", weight: "1.2 kg" }),
      { weight: number, weight_kg: number },
      { weight: null, weight_kg: 1.2 },
    ],
    [
      "a recipe",
      ld({
        "@type": "Recipe",
        name: "Soup",
        prepTime: "PT1H30M",
        recipeYield: "4 servings",
        nutrition: { calories: "240 kcal" },
        recipeInstructions: [
          { "@type": "HowToStep", text: "Cut." },
          { "@type": "HowToStep", name: "Step 2", text: "Cook." },
        ],
      }),
      {
        servings: { type: "integer" },
        prep_time_minutes: { type: "integer" },
        prepTime: text,
        calories: number,
        steps: { type: "array", items: text },
      },
      { servings: 4, prep_time_minutes: 90, prepTime: "PT1H30M", calories: 240, steps: ["Cut.", "Cook."] },
    ],
    [
      "an event with its place",
      ld({
        "@type": "MusicEvent",
        name: "Concert",
        startDate: "2026-05-01T20:00:00+0200",
        location: { name: "Hall", address: { streetAddress: "1 Road", addressLocality: "Bern" } },
      }),
      {
        event_name: text,
        date: { type: "string", format: "date" },
        starts_at: { type: "string", format: "date-time" },
        venue: text,
        city: text,
        address: object({ street: text, city: text }),
      },
      {
        event_name: "Concert",
        date: "2026-05-01",
        starts_at: "2026-05-01T20:00:00+02:00",
        venue: "Hall",
        city: "Bern",
        address: { street: "1 Road", city: "Bern" },
      },
    ],
    [
      "a job",
      ld({
        "@type": "JobPosting",
        title: "Cook",
        hiringOrganization: { name: "Inn" },
        employmentType: "FULL_TIME",
        jobLocationType: "TELECOMMUTE",
        baseSalary: { currency: "CHF", value: { minValue: 50000, maxValue: 60000 } },
      }),
      {
        job_title: text,
        company: text,
        employment_type: { enum: ["full-time", "part-time"] },
        remote: { type: "boolean" },
        salary_min: number,
        salary_max: number,
        salary_currency: text,
      },
      {
        job_title: "Cook",
        company: "Inn",
        employment_type: "full-time",
        remote: true,
        salary_min: 50000,
        salary_max: 60000,
        salary_currency: "CHF",
      },
    ],
    [
      "an article in a graph",
      ld({
        "@graph": [
          { "@type": "Organization", "@id": "#o", name: "Daily" },
          { "@type": "WebPage", name: "Site" },
          {
            "@type": "NewsArticle",
            headline: "News",
            author: { "@id": "#p" },
            publisher: { "@id": "#o" },
            datePublished: "2026-01-02T03:04:05Z",
            keywords: "a, b",
          },
          { "@type": "Person", "@id": "#p", name: "Ann" },
        ],
      }),
      {
        title: text,
        author: text,
        authors: { type: "array", items: text },
        publisher: text,
        published_at: text,
        tags: { type: "array", items: text },
      },
      {
        title: "News",
        author: "Ann",
        authors: ["Ann"],
        publisher: "Daily",
        published_at: "2026-01-02T03:04:05Z",
        tags: ["a", "b"],
      },
    ],
    [
      "a thing within the answer",
      ld(PRODUCT),
      { product: { $ref: "#/$defs/p" } },
      { product: { name: "Blue Kettle", price: 19.9 } },
    ],
    [
      "all things of a kind",
      ld({ "@type": "Event", name: "A" }, { "@type": "MusicEvent", name: "B" }),
      { events: { type: "array", items: object({ name: text }) } },
      { events: [{ name: "A" }, { name: "B" }] },
    ],
    [
      "questions",
      ld({ "@type": "FAQPage", mainEntity: [{ "@type": "Question", name: "Why?", acceptedAnswer: { text: "So." } }] }),
      { faqs: { type: "array", items: object({ question: text, answer: text }) } },
      { faqs: [{ question: "Why?", answer: "So." }] },
    ],
    [
      "a company",
      ld({ "@type": "WebSite", name: "Site" }, { "@type": "Organization", name: "Acme", telephone: "123" }),
      { company_name: text, phone: text },
      { company_name: "Acme", phone: "123" },
    ],
    [
      "several values in a list of terms",
      "<dl><dt>Colour</dt><dd>red</dd><dd>blue</dd></dl>",
      { colours: { type: "array", items: text } },
      { colours: ["red", "blue"] },
    ],
  ])("%s", (_name, html, properties, expected) => {
    const schema = { ...object(properties), $defs: { p: object({ name: text, price: number }) } };
    expect(answerFromStructured(schema, [page(html)]).value).toEqual(expected as never);
  });
});
