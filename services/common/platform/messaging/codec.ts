import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  fromBinary,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { AuthService } from '../../../../proto/gen/engram/auth/v1/auth_pb.ts';
import { CognifyService } from '../../../../proto/gen/engram/cognify/v1/cognify_pb.ts';
import {
  AccessChangedSchema,
  McpCallCancelledSchema,
  ModelSettingsChangedSchema,
  RunEventSchema,
  SpansEndedSchema,
} from '../../../../proto/gen/engram/events/v1/events_pb.ts';
import { ImproveService } from '../../../../proto/gen/engram/improve/v1/improve_pb.ts';
import { IngestService } from '../../../../proto/gen/engram/ingest/v1/ingest_pb.ts';
import { IntegrationsService } from '../../../../proto/gen/engram/integrations/v1/integrations_pb.ts';
import { SearchService } from '../../../../proto/gen/engram/search/v1/search_pb.ts';
import { SystemService } from '../../../../proto/gen/engram/system/v1/system_pb.ts';
import type { MethodPath } from '../../../../proto/gen/method-table.ts';
import { ENUM_WORDS, MAPPED_MESSAGES, REQUEST_CHECKS } from './mapped-messages.ts';
import type { Topics } from './messages.ts';

/** A value on the wire. `decode` throws when the bytes are no such message. */
export interface Codec<Value> {
  encode(value: Value): Uint8Array;
  decode(payload: Uint8Array): Value;
}

/** Values as the types of messages.ts have them; the types of `proto/` say what is in them. */
type Values = Readonly<Record<string, unknown>>;

/** Requests leave out what is absent, answers say null. */
type Absent = null | undefined;

/** Every service of `proto/` by the first word of its methods' paths. */
export const SERVICES = {
  auth: AuthService,
  ingest: IngestService,
  cognify: CognifyService,
  improve: ImproveService,
  search: SearchService,
  integrations: IntegrationsService,
  system: SystemService,
} as const;

interface MethodCodecs {
  readonly request: Codec<unknown>;
  readonly answer: Codec<unknown>;
}

const made = new Map<string, MethodCodecs>();

/** Codecs of the method `<service>.<Method>` of `proto/`, made with its first message. */
export function codecsOf(path: MethodPath): MethodCodecs {
  const codecs = made.get(path) ?? createCodecs(path);
  made.set(path, codecs);
  return codecs;
}

function createCodecs(path: MethodPath): MethodCodecs {
  const [service = '', name = ''] = path.split('.');
  const methods: readonly DescMethod[] = SERVICES[service as keyof typeof SERVICES].methods;
  const method = methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`proto/ has no method ${path}`);
  const { encode, decode } = codecOf(method.input, undefined);
  const check = REQUEST_CHECKS[path as keyof typeof REQUEST_CHECKS] as ((value: unknown) => void) | undefined;
  return {
    request: {
      encode(value) {
        check?.(value);
        return encode(value);
      },
      decode,
    },
    answer: codecOf(method.output, null),
  };
}

/** Plain values as messages of a schema; see messages.ts. */
function codecOf(schema: DescMessage, absent: Absent): Codec<unknown> {
  const { toWire, fromWire } = conversionOf(schema, absent);
  return {
    encode: (value) => toBinary(schema, create(schema, toWire(value) as Values)),
    decode: (payload) => fromWire(fromBinary(schema, payload, { readUnknownFields: false })),
  };
}

/** Between a plain value and what the generated types have for it. */
interface Conversion {
  toWire(value: unknown): unknown;
  fromWire(wire: unknown): unknown;
}

const AS_IS: Conversion = { toWire: (value) => value, fromWire: (wire) => wire };
/** Numbers hold counts, sizes and times exactly up to 2^53. */
const LONG: Conversion = { toWire: (value) => BigInt(value as number), fromWire: Number };
/** Objects of clients travel as JSON text: nested to 500 levels, where `google.protobuf.Struct` ends at 33. */
const JSON_TEXT: Conversion = { toWire: JSON.stringify, fromWire: (wire) => JSON.parse(wire as string) };

function conversionOf(schema: DescMessage, absent: Absent): Conversion {
  if (schema.typeName === 'google.protobuf.Struct') return AS_IS;
  const mapping = MAPPED_MESSAGES[schema.typeName];
  const toPlain = mapping?.toPlain ?? AS_IS.toWire;
  const fromPlain = mapping?.fromPlain ?? AS_IS.fromWire;
  const members = membersOf(schema, mapping === undefined ? absent : null);
  return {
    toWire(value) {
      const plain = toPlain(value as object) as Values;
      const message: Record<string, unknown> = {};
      for (const { name, localName, conversion } of members) {
        const field = plain[name] ?? undefined;
        if (field !== undefined) message[localName] = conversion.toWire(field);
      }
      return message;
    },
    fromWire(message) {
      const plain: Record<string, unknown> = {};
      for (const { name, localName, conversion, absent: instead } of members) {
        const field = (message as Values)[localName];
        if (field !== undefined) plain[name] = conversion.fromWire(field);
        else if (instead === 'refused') throw new Error(`the field ${localName} is missing`);
        else if (instead === null) plain[name] = null;
      }
      return fromPlain(plain);
    },
  };
}

/** A field or oneof of a message. */
interface Member {
  /** Name in plain values. */
  readonly name: string;
  /** Name in the generated types. */
  readonly localName: string;
  readonly conversion: Conversion;
  readonly absent: Absent | 'refused';
}

function membersOf(schema: DescMessage, absent: Absent): readonly Member[] {
  return schema.members.map((member): Member => {
    const { localName } = member;
    const name = localName.replace(/Json$/, '');
    if (member.kind === 'oneof') return { name, localName, conversion: choiceOf(member, absent), absent: 'refused' };
    const isNullable = MAPPED_MESSAGES[member.message?.typeName ?? '']?.isNullable === true;
    const instead = isRequired(member) ? 'refused' : isNullable ? null : absent;
    return { name, localName, conversion: fieldConversion(member, absent), absent: instead };
  });
}

/** A message field that is not marked `optional` has to be there. */
export function isRequired({ message, fieldKind, oneof, proto }: DescField): boolean {
  return message !== undefined && fieldKind === 'message' && oneof === undefined && !proto.proto3Optional;
}

/** The one field of a oneof that is set, under its name. */
function choiceOf(oneof: DescOneof, absent: Absent): Conversion {
  const choices = oneof.fields.map((field) => [field.localName, fieldConversion(field, absent)] as const);
  return {
    toWire(value) {
      const chosen = choices.find(([name]) => (value as Values)[name] !== undefined);
      if (chosen === undefined) return { case: undefined };
      const [name, { toWire }] = chosen;
      return { case: name, value: toWire((value as Values)[name]) };
    },
    fromWire(wire) {
      const { case: name, value } = wire as { readonly case: string | undefined; readonly value?: unknown };
      const chosen = choices.find(([known]) => known === name);
      if (chosen === undefined) throw new Error(`the field ${oneof.name} is missing`);
      return { [chosen[0]]: chosen[1].fromWire(value) };
    },
  };
}

function fieldConversion(field: DescField, absent: Absent): Conversion {
  const one = valueConversion(field, absent);
  if (field.fieldKind !== 'list' || one === AS_IS) return one;
  return {
    toWire: (values) => (values as unknown[]).map((value) => one.toWire(value)),
    fromWire: (values) => (values as unknown[]).map((value) => one.fromWire(value)),
  };
}

function valueConversion(field: DescField, absent: Absent): Conversion {
  if (field.message !== undefined) return conversionOf(field.message, absent);
  if (field.enum !== undefined) return wordsOf(field.enum);
  if (field.localName.endsWith('Json') && !VERBATIM_TEXT.includes(field.localName)) return JSON_TEXT;
  return field.scalar === ScalarType.UINT64 || field.scalar === ScalarType.INT64 ? LONG : AS_IS;
}

/** Signed, or handed on as it is: parsing and writing it again would change the text. */
const VERBATIM_TEXT = ['receiptJson', 'openapiJson'];

/** Throws for a value that this release does not know: another one may know more. */
function wordsOf({ values, typeName }: DescEnum): Conversion {
  const words = values
    .filter(({ number }) => number !== 0)
    .map(({ number, localName }) => [number, ENUM_WORDS[typeName]?.[localName] ?? localName.toLowerCase()] as const);
  const byNumber = new Map(words);
  const byWord = new Map(words.map(([number, word]) => [word, number]));
  return {
    toWire: (word) => known(byWord.get(word as string), typeName, word),
    fromWire: (number) => known(byNumber.get(number as number), typeName, number),
  };
}

function known<Value>(value: Value | undefined, typeName: string, wanted: unknown): Value {
  if (value === undefined) throw new Error(`${typeName} has no value ${wanted}`);
  return value;
}

export const topicCodecs: Readonly<Record<keyof Topics, Codec<unknown>>> = {
  access: codecOf(AccessChangedSchema, null),
  runs: codecOf(RunEventSchema, null),
  settings: codecOf(ModelSettingsChangedSchema, null),
  mcp: codecOf(McpCallCancelledSchema, null),
  spans: codecOf(SpansEndedSchema, null),
};
