import { ActionIcon, Button, Group, Menu, PasswordInput, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { engram, messageOf } from '../api.ts';
import { when } from '../format.ts';
import { checkEmail, FormDialog } from '../forms.tsx';
import { IconDots, IconMail, IconPlus } from '../icons.ts';
import { type Me, useMe } from '../queries.ts';
import { askFirst, attempt, Failed, say, Waiting } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';
import { Secret } from './secret.tsx';

const PATH = '/api/v1/users/{user_id}';
const PAGE = 100;

/** The open dialog: for a new account, an invitation, or an account to change. */
type Opened = 'new' | 'invitation' | Me | null;

interface Handed {
  readonly title: string;
  readonly secret: string;
}

/** All accounts of people, for superusers. */
export function Users() {
  const me = useMe();
  const client = useQueryClient();
  const [opened, setOpened] = useState<Opened>(null);
  const [handed, setHanded] = useState<Handed | null>(null);
  const users = useInfiniteQuery({
    queryKey: ['users'],
    queryFn: ({ pageParam }) =>
      engram.get('/api/v1/users', { query: { limit: PAGE, ...(pageParam === '' ? {} : { after: pageParam }) } }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, done);
    await client.invalidateQueries({ queryKey: ['users'] });
  };
  const done = (secret: Handed | null) => {
    setHanded(secret);
    setOpened(null);
    void client.invalidateQueries({ queryKey: ['users'] });
  };
  if (users.isPending) return <Waiting />;
  if (users.isError) return <Failed error={users.error} onRetry={() => void users.refetch()} />;
  const list = users.data.pages
    .flatMap((page) => page.users)
    .toSorted((one, other) => one.email.localeCompare(other.email));
  return (
    <Stack>
      <Group justify="flex-end">
        <Button variant="default" leftSection={<IconMail size={16} />} onClick={() => setOpened('invitation')}>
          Invite
        </Button>
        <Button leftSection={<IconPlus size={16} />} onClick={() => setOpened('new')}>
          New account
        </Button>
      </Group>
      {handed === null ? null : <Secret {...handed} onClose={() => setHanded(null)} />}
      <DataTable label="Accounts" minWidth={320} columns={['Account', 'State', 'What to do']}>
        {list.map((user) => (
          <Table.Tr key={user.id}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              {user.email}
              {user.id === me?.id ? ' (you)' : ''}
            </Table.Td>
            <Table.Td>
              <Flags user={user} />
            </Table.Td>
            <Table.Td>
              {user.id === me?.id ? null : <UserMenu user={user} onAct={act} onPassword={() => setOpened(user)} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {users.hasNextPage ? (
        <Button variant="default" onClick={() => void users.fetchNextPage()} loading={users.isFetchingNextPage}>
          Show more
        </Button>
      ) : null}
      {opened === 'invitation' ? <InvitationDialog onClose={() => setOpened(null)} onDone={done} /> : null}
      {opened === null || opened === 'invitation' ? null : (
        <AccountDialog user={opened === 'new' ? null : opened} onClose={() => setOpened(null)} onDone={done} />
      )}
    </Stack>
  );
}

function Flags({ user }: { readonly user: Me }) {
  const flags = [
    { label: user.is_active ? 'Active' : 'Deactivated', color: user.is_active ? 'green' : 'red' },
    ...(user.is_superuser ? [{ label: 'Superuser', color: 'indigo' }] : []),
    ...(user.is_verified ? [{ label: 'Address confirmed', color: 'gray' }] : []),
  ];
  return (
    <Group gap={4}>
      {flags.map(({ label, color }) => (
        <StateBadge key={label} color={color}>
          {label}
        </StateBadge>
      ))}
    </Group>
  );
}

interface UserMenuProps {
  readonly user: Me;
  onAct(work: () => Promise<unknown>, done: string): Promise<void>;
  onPassword(): void;
}

function UserMenu({ user, onAct, onPassword }: UserMenuProps) {
  const { email, is_active: isActive, is_superuser: isSuperuser } = user;
  const path = { user_id: user.id };
  const change = (body: Partial<Pick<Me, 'is_active' | 'is_superuser' | 'is_verified'>>, done: string) =>
    onAct(() => engram.patch(PATH, { path, body }), done);
  const deactivate = () =>
    askFirst({
      title: `Deactivate ${email}?`,
      text: 'Its sign-ins, keys and agents are refused from then on. Its data stays, and it can be activated again.',
      action: 'Deactivate it',
      run: () => change({ is_active: false }, `${email} is deactivated.`),
    });
  const remove = () =>
    askFirst({
      title: `Delete ${email}?`,
      text: 'The account, its agents, keys and sessions are erased. Its datasets get another owner. This cannot be undone.',
      action: 'Delete the account',
      run: () => onAct(() => engram.delete(PATH, { path }), `${email} was deleted.`),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${email}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onPassword}>Set a password</Menu.Item>
        <Menu.Item
          onClick={() =>
            void onAct(
              () => engram.post('/api/v1/auth/forgot-password', { body: { email } }),
              `A mail to ${email} was asked for. It is sent if this server can send mails.`,
            )
          }
        >
          Send a mail to reset the password
        </Menu.Item>
        {user.is_verified ? null : (
          <Menu.Item onClick={() => void change({ is_verified: true }, `The address ${email} counts as confirmed.`)}>
            Confirm the address
          </Menu.Item>
        )}
        <Menu.Item
          onClick={() =>
            void change(
              { is_superuser: !isSuperuser },
              isSuperuser ? `${email} is no superuser any more.` : `${email} is a superuser now.`,
            )
          }
        >
          {isSuperuser ? 'Take superuser rights' : 'Make a superuser'}
        </Menu.Item>
        {isActive ? (
          <Menu.Item onClick={deactivate}>Deactivate</Menu.Item>
        ) : (
          <Menu.Item onClick={() => void change({ is_active: true }, `${email} is active again.`)}>Activate</Menu.Item>
        )}
        <Menu.Item onClick={remove}>Delete</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface AccountDialogProps {
  /** Null: a new account. */
  readonly user: Me | null;
  onClose(): void;
  onDone(secret: Handed | null): void;
}

/** Creates an account, or sets the password of one. The password is shown once, to be handed over. */
function AccountDialog({ user, onClose, onDone }: AccountDialogProps) {
  const [isSending, setSending] = useState(false);
  const form = useForm({
    initialValues: { email: user?.email ?? '', password: randomPassword() },
    validate: { email: checkEmail, password: (value) => (value === '' ? 'Enter a password' : null) },
  });
  const submit = form.onSubmit(async ({ email, password }) => {
    setSending(true);
    try {
      if (user === null) await engram.post('/api/v1/auth/register', { body: { email, password } });
      else await engram.patch(PATH, { path: { user_id: user.id }, body: { password } });
      say(user === null ? `The account ${email} was created.` : `${email} has a new password. Its sign-ins ended.`);
      onDone({ title: `The password of ${email}`, secret: password });
    } catch (failure) {
      const taken = addressTaken(failure);
      if (taken === null) form.setFieldError('password', messageOf(failure));
      else form.setFieldError('email', taken);
    } finally {
      setSending(false);
    }
  });
  return (
    <FormDialog
      opened
      title={user === null ? 'New account' : `Password of ${user.email}`}
      action={user === null ? 'Create the account' : 'Set the password'}
      isSending={isSending}
      onClose={onClose}
      onSubmit={submit}
    >
      {user === null ? (
        <TextInput label="E-mail" type="email" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
      ) : null}
      <PasswordInput
        label="Password"
        description="A random one is filled in. You see it once more afterwards, to hand it over."
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      <Text size="sm" c="dimmed">
        The person can change it under People, Your account.
      </Text>
    </FormDialog>
  );
}

/** Creates an account whose owner chooses the password behind a link: in a mail, or shown once where none can be sent. */
function InvitationDialog({ onClose, onDone }: Omit<AccountDialogProps, 'user'>) {
  const [isSending, setSending] = useState(false);
  const form = useForm({ initialValues: { email: '' }, validate: { email: checkEmail } });
  const submit = form.onSubmit(async ({ email }) => {
    setSending(true);
    try {
      const { link, expires_at: end } = await engram.post('/api/v1/users/invitations', { body: { email } });
      say(link === null ? `An invitation was mailed to ${email}.` : `${email} was invited.`);
      onDone(link === null ? null : { title: `The link for ${email}, valid until ${when(end)}`, secret: link });
    } catch (failure) {
      form.setFieldError('email', addressTaken(failure) ?? messageOf(failure));
    } finally {
      setSending(false);
    }
  });
  return (
    <FormDialog
      opened
      title="Invite a person"
      action="Invite"
      isSending={isSending}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextInput label="E-mail" type="email" autoComplete="off" data-autofocus {...form.getInputProps('email')} />
      <Text size="sm" c="dimmed">
        The person chooses the password. Where this server sends no mail you see the link once, to hand it over.
      </Text>
    </FormDialog>
  );
}

/** Says that the address of a new account is taken; null for another failure. */
function addressTaken(failure: unknown): string | null {
  return messageOf(failure) === 'REGISTER_USER_ALREADY_EXISTS' ? 'There is an account with this address' : null;
}

const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** 20 characters without those that look alike. */
function randomPassword(): string {
  return [...crypto.getRandomValues(new Uint32Array(20))].map((value) => LETTERS[value % LETTERS.length]).join('');
}
