// The kit that all views are made of.
export { Button, type ButtonKind, IconButton, LinkButton } from './button.js';
export { type Option, Range, Segmented, Select, Switch } from './choice.js';
export { Confirm, Dialog } from './dialog.js';
export { Disclosure, type Tab, Tabs } from './disclosure.js';
export { Copyable, EmptyState, Frame, Notice, Progress, Spinner } from './feedback.js';
export { Field, type FieldIds, NumberField, TextField } from './field.js';
export { Icon, type IconName } from './icon.js';
