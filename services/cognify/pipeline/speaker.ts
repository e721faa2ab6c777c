import type { DataItem } from '../../common/domain/data-item.ts';
import { OWNER_NAME } from '../../common/domain/speaker.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { MessageCaller } from '../../common/platform/messaging/messenger.ts';
import type { ParsedDocument } from '../../common/ports/documents.ts';
import { personOfAddress } from '../../common/text/language/turns.ts';
import type { ActiveRun } from '../model.ts';

/** Returns the name of the user who added an item: one name for the owner of the dataset, others by their mail address. */
export type NameOfUser = (item: Pick<DataItem, 'ownerId'>) => Promise<string | null>;

export function createNameOfUser(
  { messenger }: { readonly messenger: MessageCaller },
  { id, dataset, principal }: ActiveRun,
): NameOfUser {
  const names = new Map<UserId, Promise<string | null>>([[dataset.ownerId, Promise.resolve(OWNER_NAME)]]);
  return ({ ownerId }) => {
    const known = names.get(ownerId);
    if (known !== undefined) return known;
    const account = { userId: ownerId, tenant: principal.tenant, unattended: true };
    const name = messenger
      .call('auth.GetPrincipal', account, { requestId: id, principal })
      .then((answer) => (answer.principal === null ? null : personOfAddress(answer.principal.email)));
    names.set(ownerId, name);
    return name;
  };
}

/** The author that a mail or front matter names. */
export function authorOf({ format, metadata }: ParsedDocument): string | null {
  if (format === 'email' && metadata['from'] !== undefined) return personOfAddress(metadata['from']);
  if (format === 'markdown') return metadata['author']?.trim() || null;
  return null;
}

/** Formats that people write notes in. */
const NOTE_FORMATS = new Set(['text', 'markdown', 'docx', 'odt', 'rtf']);
/** A longer document is a book or a report, whose `I` is somebody else. */
const MAX_NOTE_CHUNKS = 20;

/** Text of this many chunks may say "yesterday" of the day before it was added; a longer one was hardly written then. */
const MAX_SHORT_CHUNKS = 3;

export function isShortNote(item: Pick<DataItem, 'format'>, chunks: number): boolean {
  return chunks <= MAX_SHORT_CHUNKS && isNote(item, chunks);
}

/** Whether a document is a note of the user who added it, as far as nothing else is said. */
export function isNote({ format }: Pick<DataItem, 'format'>, chunks: number): boolean {
  return NOTE_FORMATS.has(format) && chunks <= MAX_NOTE_CHUNKS;
}
