/** The test data of an endpoint for models that are not chat models. */
export interface EndpointFixture {
  /** A valid request without its model. */
  readonly body: Readonly<Record<string, unknown>>;
  /** For endpoints that take forms: the files by the names of their parts. They come after the fields. */
  readonly files?: Readonly<Record<string, string>>;
  /** A provider's answer to the request, for the model that was requested. */
  answer(model: string): Readonly<Record<string, unknown>>;
  /** For endpoints that are translated: what the provider gets beside the model. */
  readonly sent?: Readonly<Record<string, unknown>>;
  /** For endpoints that are translated: the answer for the client. */
  shown?(model: string): Readonly<Record<string, unknown>>;
  /** The tokens that the answer reports. */
  readonly tokens: number;
  /** The same answer without usage. */
  untold(model: string): Readonly<Record<string, unknown>>;
  /** Members that make the request invalid, and the parameter that the error names. */
  readonly refused: readonly [members: Readonly<Record<string, unknown>>, param: string][];
}
