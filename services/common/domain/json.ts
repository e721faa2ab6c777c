/** Any value that JSON can carry. Documents, bus payloads and stored records are made of these only. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}
