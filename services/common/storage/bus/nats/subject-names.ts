/** Subjects of the bus and of the server, which may be shared: `engram.…` begins with the prefix there. */
export type SubjectNames = ReturnType<typeof createSubjectNames>;

const OURS = 'engram.';

export function createSubjectNames(prefix: string) {
  if (!/^[\w-]+(\.[\w-]+)*$/.test(prefix)) throw new Error(`"${prefix}" cannot begin a NATS subject`);
  return {
    prefix,
    toServer: (subject: string) =>
      subject.startsWith(OURS) ? `${prefix}.${subject.slice(OURS.length)}` : `${prefix}.${FOREIGN}.${subject}`,
    fromServer(subject: string) {
      const rest = subject.slice(prefix.length + 1);
      return rest.startsWith(`${FOREIGN}.`) ? rest.slice(FOREIGN.length + 1) : `${OURS}${rest}`;
    },
    /** Subject on which the caller cancels a request; `*` for all. */
    cancel: (call: string) => `${prefix}.cancel.${call}`,
  };
}

/** Before subjects that are not ours: the way back must be clear. */
const FOREIGN = 'other';
