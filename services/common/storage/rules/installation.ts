import { type EngramError, engramError } from '../../kernel/errors.ts';

/** A name in a store that many installations may share: a prefix, a namespace, a folder. */
interface InstallationPlace {
  /** Description for messages, such as `The indexes engram-* at http://…`. */
  readonly what: string;
  /** The variable that chooses the name. */
  readonly setting: string;
}

/**
 * Two installations under one name would answer each other's requests and see each other's rows. Throws when `found`, the
 * id that stands in the place, is not `own`; retrying cannot help.
 */
export function requireOwn({ what, setting }: InstallationPlace, own: string, found: string): void {
  if (found === own) return;
  throw foreignInstallation(
    `${what} belongs to another installation: it says ${found}, and the records of this one say ${own}. Set ${setting} to a name that no other installation uses, or remove what the other one left.`,
  );
}

function foreignInstallation(message: string): EngramError {
  return engramError('ServiceUnavailableError', message, { retryable: false });
}
