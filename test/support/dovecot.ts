import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

/** Whether a real mail server can be started here: Dovecot 2.3 or later on the path, and the rights of root that it wants. */
export const HAS_DOVECOT = process.getuid?.() === 0 && hasCommand('dovecot');

export const MAIL_PASSWORD = 'correct-horse';

/** Starts Dovecot on a free port: every user name has a mailbox, and `MAIL_PASSWORD`. */
export async function startDovecot() {
  const folder = await mkdtemp(join(tmpdir(), 'engram-dovecot-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'mail'));
  await chmod(join(folder, 'mail'), 0o777);
  const port = await freePorts(1);
  const config = join(folder, 'dovecot.conf');
  await writeFile(
    config,
    `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_failure_delay = 0
mail_location = maildir:~/Maildir
mail_uid = nobody
mail_gid = nogroup
first_valid_uid = 1
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
passdb {
  driver = static
  args = password=${MAIL_PASSWORD}
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${folder}/mail/%u
}
`,
  );
  const server = spawn('dovecot', ['-F', '-c', config], { stdio: 'inherit' });
  await until('the mail server answers', () => answers(port));
  return {
    port,
    /** Changes a mailbox as its owner does with a mail program; its inbox is open. */
    async within(user: string, work: (mailbox: ImapFlow) => Promise<unknown>): Promise<void> {
      const login = { user, pass: MAIL_PASSWORD };
      const mailbox = new ImapFlow({ host: '127.0.0.1', port, secure: false, auth: login, logger: false });
      await mailbox.connect();
      await mailbox.mailboxOpen('INBOX');
      await work(mailbox);
      await mailbox.logout();
    },
    async [Symbol.asyncDispose]() {
      await stop(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  server.kill('SIGTERM');
  await once(server, 'exit');
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    const end = (value: boolean) => {
      socket.destroy();
      resolve(value);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

function hasCommand(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
