import { isGeneratedName } from '../common/domain/index-rows.ts';
import { parseJson } from '../common/kernel/json.ts';
import { decodedPath } from '../common/kernel/paths.ts';
import { firstWords } from '../common/text/document-label.ts';
import { harmless } from './output.ts';

/** Source of a text in answers of search and recall. */
export interface SourceFields {
  readonly text?: unknown;
  readonly document_name?: unknown;
  /** JSON text: the metadata that the item was added with. */
  readonly external_metadata?: unknown;
}

/** The path of an imported file, else the file name or address that it came from, else the first words; null: not known. */
export function sourceName({ text, document_name: name, external_metadata: metadata }: SourceFields): string | null {
  const origin = originOf(metadata);
  if (origin !== null) return harmless(origin);
  if (typeof name !== 'string') return null;
  return harmless(isGeneratedName(name) && typeof text === 'string' ? `"${firstWords(text)}"` : name);
}

function originOf(metadata: unknown): string | null {
  const values = parsed(metadata);
  const path = values?.['source_path'];
  if (typeof path === 'string' && path !== '') return path;
  const uri = (values?.['_cognee'] as { source_uri?: unknown } | null | undefined)?.source_uri;
  if (typeof uri !== 'string') return null;
  return uri.startsWith('file:///') ? decodedPath(uri.slice('file:///'.length)) : uri;
}

function parsed(metadata: unknown): Readonly<Record<string, unknown>> | null {
  const value = typeof metadata === 'string' ? parseJson(metadata) : metadata;
  return typeof value === 'object' ? (value as Readonly<Record<string, unknown>>) : null;
}
