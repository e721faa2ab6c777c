import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';

/** A domain value on the wire. `decode` throws when the bytes are no such message. */
export interface Codec<Value> {
  encode(value: Value): Uint8Array;
  decode(payload: Uint8Array): Value;
}

/** Both ways of a method; made once, with the first message. */
export interface MethodCodec<Request, Response> {
  readonly request: Codec<Request>;
  readonly response: Codec<Response>;
}

/**
 * A domain value as a protobuf message of `schema`. The two mappings are written by hand: absent, null and empty mean
 * different things to different methods, and the compiler finds every field that is forgotten.
 */
export function messageCodec<Schema extends DescMessage, Value>(
  schema: Schema,
  toMessage: (value: Value) => MessageInitShape<Schema>,
  fromMessage: (message: MessageShape<Schema>) => Value,
): Codec<Value> {
  return {
    encode: (value) => toBinary(schema, create(schema, toMessage(value))),
    decode: (payload) => fromMessage(fromBinary(schema, payload, { readUnknownFields: false })),
  };
}

/** The words of the domain for the numbers of a protobuf enum. */
export interface EnumMapping<Word extends string, Wire extends number> {
  toWire(word: Word): Wire;
  /** Throws for a number that is none of them: another release may know more. */
  fromWire(wire: Wire): Word;
}

export function enumMapping<Word extends string, Wire extends number>(
  wires: Readonly<Record<Word, Wire>>,
): EnumMapping<Word, Wire> {
  const words = new Map<Wire, Word>();
  for (const word of Object.keys(wires) as Word[]) words.set(wires[word], word);
  return {
    toWire: (word) => wires[word],
    fromWire(wire) {
      const word = words.get(wire);
      if (word === undefined) throw new Error(`unknown enum value ${wire}; known are ${Object.keys(wires).join(', ')}`);
      return word;
    },
  };
}

/** A message field is optional on the wire; these must be there. */
export function present<Value>(value: Value | undefined, field: string): Value {
  if (value === undefined) throw new Error(`the field ${field} is missing`);
  return value;
}
