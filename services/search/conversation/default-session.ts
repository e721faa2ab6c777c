const DEFAULT_SESSION = 'default_session';

/** Null: a search over several datasets as one store. */
export function defaultSession(dataset: string | null): string {
  return dataset === null ? DEFAULT_SESSION : `${DEFAULT_SESSION}_${dataset}`;
}

export function isDefaultSession(name: string): boolean {
  return name.startsWith(DEFAULT_SESSION);
}
