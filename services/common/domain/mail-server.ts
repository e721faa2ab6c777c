/** The server that mails leave by. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** Null: the server takes mails of anybody who reaches it. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** `starttls`: upgraded or not sent; `tls`: encrypted from the first byte; `none`: never encrypted. */
  readonly tls: 'starttls' | 'tls' | 'none';
  /** PEM; null: the authorities that Node knows. */
  readonly certificateAuthority: string | null;
  readonly from: string;
  /** Time limit of each step: name resolution, connection, greeting, silence on the line. */
  readonly timeoutMs: number;
}
