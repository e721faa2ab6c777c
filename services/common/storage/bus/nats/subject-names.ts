/** Subjects of the bus and of the server, which may be shared: `engram.…` begins with the prefix there. */
export interface SubjectNames {
  readonly prefix: string;
  toServer(subject: string): string;
  fromServer(subject: string): string;
  /** Subject on which the caller cancels a request; `*` for all. */
  cancel(call: string): string;
}

const OURS = 'engram.';

export function createSubjectNames(prefix: string): SubjectNames {
  if (!/^[\w-]+(\.[\w-]+)*$/.test(prefix)) throw new Error(`"${prefix}" cannot begin a NATS subject`);
  return {
    prefix,
    toServer: (subject) =>
      subject.startsWith(OURS) ? `${prefix}.${subject.slice(OURS.length)}` : `${prefix}.${FOREIGN}.${subject}`,
    fromServer(subject) {
      const rest = subject.slice(prefix.length + 1);
      return rest.startsWith(`${FOREIGN}.`) ? rest.slice(FOREIGN.length + 1) : `${OURS}${rest}`;
    },
    cancel: (call) => `${prefix}.cancel.${call}`,
  };
}

/** Before subjects that are not ours: the way back must be clear. */
const FOREIGN = 'other';
