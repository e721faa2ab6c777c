import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { messageOf } from './api.ts';

interface NameFormProps {
  readonly label: string;
  /** Label of the button. */
  readonly action: string;
  readonly placeholder?: string;
  readonly type?: 'text' | 'email';
  /** Returns the error of a text, null for a valid one. */
  readonly check?: (value: string) => string | null;
  /** Shown below the field when it rejects; the field is emptied when it does not. */
  readonly onSubmit: (value: string) => Promise<unknown>;
}

const EMAIL = /^\S+@\S+$/;

export const checkEmail = (value: string): string | null =>
  EMAIL.test(value) ? null : 'An e-mail address, like name@example.com';

/** One field and a button: names of what is created, addresses of who is added. */
export function NameForm({ label, action, placeholder, type = 'text', check, onSubmit }: NameFormProps) {
  const [isSending, setSending] = useState(false);
  const form = useForm({
    initialValues: { value: '' },
    validate: { value: (value) => (type === 'email' ? checkEmail(value.trim()) : (check?.(value.trim()) ?? null)) },
  });
  const submit = form.onSubmit(async ({ value }) => {
    setSending(true);
    try {
      await onSubmit(value.trim());
      form.reset();
    } catch (error) {
      form.setFieldError('value', messageOf(error));
    } finally {
      setSending(false);
    }
  });
  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-start" gap="xs">
        <TextInput label={label} placeholder={placeholder} type={type} {...form.getInputProps('value')} />
        <Button type="submit" mt={25} loading={isSending} disabled={form.values.value.trim() === ''}>
          {action}
        </Button>
      </Group>
    </form>
  );
}

interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly opened: boolean;
  readonly isSending: boolean;
  readonly children: ReactNode;
  onClose(): void;
  onSubmit(event: React.FormEvent<HTMLFormElement>): void;
}

export function FormDialog({ title, action, opened, isSending, children, onClose, onSubmit }: FormDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isSending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
