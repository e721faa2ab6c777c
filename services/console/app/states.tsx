import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { messageOf } from './api.ts';
import { IconAlertTriangle } from './icons.ts';

/** Placeholder of a page that waits. */
export function Waiting({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <Center py="xl" role="status" aria-label={label}>
      <Loader size="sm" />
    </Center>
  );
}

export function Failed({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title="This did not work" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {onRetry === undefined ? null : (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** Placeholder of an empty list, with what to do about it. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <Stack align="center" py={48} gap="xs">
      <Title order={2} size="h4" ta="center">
        {title}
      </Title>
      <Text c="dimmed" size="sm" maw={460} ta="center">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

interface Asked {
  readonly title: string;
  /** The things that are lost. */
  readonly text: ReactNode;
  /** Label of the button. */
  readonly action: string;
  readonly run: () => unknown;
}

/** Asks before something is lost. */
export function askFirst({ title, text, action, run }: Asked): void {
  modals.openConfirmModal({
    title,
    children: <Text size="sm">{text}</Text>,
    labels: { confirm: action, cancel: 'Cancel' },
    confirmProps: { color: 'red.8' },
    closeButtonProps: { 'aria-label': 'Close' },
    onConfirm: () => void run(),
  });
}

export function say(message: string): void {
  notifications.show({ message, color: 'teal' });
}

/** Says what was done, with a button that takes it back. */
export function sayWithUndo(message: string, undo: () => void): void {
  const id = `undo-${message}-${Date.now()}`;
  notifications.show({
    id,
    color: 'teal',
    autoClose: 10_000,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}

/** Does something and says that it is done, or what failed; whether it is done. */
export async function attempt(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work();
    say(done);
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export function complain(error: unknown): void {
  notifications.show({ title: 'This did not work', message: messageOf(error), color: 'red', autoClose: 10_000 });
}
