/** The test data of an endpoint for models that do not chat. */
export interface EndpointFixture {
  /** A good request, without its model. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Of an endpoint that takes forms: the files, by the names of their parts. They follow the fields. */
  readonly files?: Readonly<Record<string, string>>;
  /** What a provider answers to it, for the model that it was asked for. */
  answer(model: string): Readonly<Record<string, unknown>>;
  /** The tokens that the answer tells. */
  readonly tokens: number;
  /** The same without what it tells of usage. */
  untold(model: string): Readonly<Record<string, unknown>>;
  /** Members that make the request bad, and the parameter that the refusal names. */
  readonly refused: readonly [members: Readonly<Record<string, unknown>>, param: string][];
}
