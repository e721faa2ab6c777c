import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { type SelfSignedCertificate, selfSignedCertificate } from './self-signed-certificate.ts';

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body, lines joined by \n. */
  readonly data: string;
  readonly encrypted: boolean;
  readonly user: string | null;
}

export interface SmtpServerOptions {
  /** `starttls`: offered; `tls`: from the first byte; `none`: not offered. */
  readonly tls?: 'starttls' | 'tls' | 'none';
  readonly login?: { readonly user: string; readonly password: string };
  /** Another answer than the usual one to a command (`RCPT`) or to the mail itself (`.`); `null` never answers. */
  readonly answer?: (command: string, attempt: number) => string | null | undefined;
}

/** A mail server on a free port of loopback, speaking as much of RFC 5321 as a client that submits mails needs. */
export interface SmtpServer extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** First words of every command line, in order. */
  readonly commands: readonly string[];
  readonly certificate: SelfSignedCertificate;
  /** The mails once there are so many; fails after fifteen seconds. */
  received(count: number): Promise<readonly ReceivedMail[]>;
}

export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  const certificate = selfSignedCertificate();
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
    const attempt = mails.length + [...commands].filter((command) => command === 'EHLO').length;
    converse(socket, { ...options, certificate, attempt, commands, keep: (mail) => mails.push(mail) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mails,
    commands,
    certificate,
    async received(count) {
      for (let waits = 0; mails.length < count; waits += 1) {
        if (waits > 1500) throw new Error(`${mails.length} mails after fifteen seconds, not ${count}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return mails;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Conversation extends SmtpServerOptions {
  readonly certificate: SelfSignedCertificate;
  readonly attempt: number;
  readonly commands: string[];
  keep(mail: ReceivedMail): void;
}

function converse(plain: Socket, conversation: Conversation): void {
  const { tls = 'none', login, certificate, commands, answer } = conversation;
  let user: string | null = null;
  let envelope: { from: string; to: string[] } = { from: '', to: [] };
  let data: string[] | null = null;
  let encrypted = tls === 'tls';

  const secured = (socket: Socket): TLSSocket =>
    new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certificate) });
  const usual = (command: string, rest: string): string => {
    switch (command) {
      case 'EHLO': {
        const offers = [...(tls === 'starttls' && !encrypted ? ['STARTTLS'] : []), ...(login ? ['AUTH PLAIN'] : [])];
        return ['250-test', ...offers.map((offer) => `250-${offer}`), '250 8BITMIME'].join('\r\n');
      }
      case 'AUTH': {
        const [, name, password] = Buffer.from(rest.split(' ')[1] ?? '', 'base64')
          .toString()
          .split('\0');
        if (name !== login?.user || password !== login?.password) return '535 wrong user or password';
        user = name ?? null;
        return '235 welcome';
      }
      case 'MAIL':
        envelope = { from: addressIn(rest), to: [] };
        return '250 ok';
      case 'RCPT':
        envelope.to.push(addressIn(rest));
        return '250 ok';
      case 'DATA':
        return '354 go on';
      case 'STARTTLS':
        return '220 go on';
      case 'QUIT':
        return '221 bye';
      default:
        return '502 unknown';
    }
  };
  const listen = (socket: Socket): void => {
    let buffered = '';
    const onData = (chunk: Buffer): void => {
      buffered += chunk.toString('latin1');
      for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        take(line);
      }
    };
    const take = (line: string): void => {
      if (data !== null && line !== '.') {
        data.push(line.replace(/^\.\./, '.'));
        return;
      }
      const [command = '', ...rest] = data === null ? line.split(' ') : ['.'];
      commands.push(command);
      const other = answer?.(command, conversation.attempt);
      if (other === null) return;
      if (data !== null) {
        if (other === undefined) {
          conversation.keep({ ...envelope, data: Buffer.from(data.join('\n'), 'latin1').toString(), encrypted, user });
        }
        data = null;
        socket.write(`${other ?? '250 taken'}\r\n`);
        return;
      }
      const reply = other ?? usual(command, rest.join(' '));
      socket.write(`${reply}\r\n`);
      if (reply.startsWith('354')) data = [];
      if (command === 'QUIT') socket.end();
      if (command === 'STARTTLS' && reply.startsWith('220')) {
        socket.off('data', onData);
        encrypted = true;
        listen(secured(socket));
      }
    };
    socket.on('data', onData).on('error', () => {});
  };
  const first = encrypted ? secured(plain) : plain;
  const greeting = answer?.('', conversation.attempt);
  if (greeting !== null) first.write(`${greeting ?? '220 test ESMTP'}\r\n`);
  listen(first);
}

function addressIn(text: string): string {
  return /<([^>]*)>/.exec(text)?.[1] ?? '';
}
