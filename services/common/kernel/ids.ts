import { hash } from 'node:crypto';
import type { Brand, DataItemId, DatasetId, TenantId, UserId } from './brand.ts';

/** RFC 4122 name space of the deterministic ids of the wire contract (cognify-improve.md §0.2). */
const OID_NAMESPACE = '6ba7b812-9dad-11d1-80b4-00c04fd430c8';
const OID_BYTES = bytesOf(OID_NAMESPACE);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Turns a checked UUID (or another id made by us) into its branded type, lower-cased as the wire prints ids. */
export function asId<Id extends Brand<string>>(text: string): Id {
  return text.toLowerCase() as unknown as Id;
}

/** RFC 4122 version 5: SHA-1 over the name space bytes and the UTF-8 name. */
export function uuid5(namespace: string, name: string): string {
  const bytes = namespace === OID_NAMESPACE ? OID_BYTES : bytesOf(namespace);
  const hex = hash('sha1', Buffer.concat([bytes, Buffer.from(name)]), 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** Lower case, blanks to underscores, apostrophes removed. */
export function slug(text: string): string {
  return text.toLowerCase().replaceAll(' ', '_').replaceAll("'", '');
}

/** Stored spelling of entity and type names: lower case, apostrophes removed, blanks kept. */
export function nodeName(text: string): string {
  return text.toLowerCase().replaceAll("'", '');
}

/** Id of a node that is identified by its class and values, for example `idFor('Entity', 'Ada Lovelace')`. */
export function idFor(className: string, ...values: readonly string[]): string {
  return uuid5(OID_NAMESPACE, `${className}:${values.map(slug).join('|')}`);
}

/** Id of what is identified by a text as it stands. */
export function idOfText(text: string): string {
  return uuid5(OID_NAMESPACE, text);
}

/** NodeSet ids lower-case the class prefix too (ingest.md §9.2). */
export function nodeSetId(name: string): string {
  return uuid5(OID_NAMESPACE, slug(`NodeSet:${name}`));
}

/** `edge_object_id` of the wire: no class prefix, parts concatenated without a separator. */
export function edgeId(sourceId: string, relation: string, targetId: string): string {
  return uuid5(OID_NAMESPACE, slug(`${sourceId}${relation}${targetId}`));
}

/** Content-derived chunk id; `occurrence` counts equal texts seen before in the same document. */
export function chunkId(documentId: string, textSha256: string, occurrence: number): string {
  return uuid5(OID_NAMESPACE, `${documentId}:${textSha256}:${occurrence}`);
}

export function summaryId(chunk: string): string {
  return uuid5(chunk, 'TextSummary');
}

/** Deleting and recreating a dataset name gives the same id. `tenant` is null in a personal space. */
export function datasetId(name: string, owner: UserId, tenant: TenantId | null): DatasetId {
  return asId<DatasetId>(uuid5(OID_NAMESPACE, `${name}${owner}${tenant ?? 'None'}`));
}

export function dataItemId(text: string): DataItemId {
  return asId<DataItemId>(text);
}
