// Text that the page has made, as a file to keep.

/** Hands the text to the browser as a download. Its memory is given back at once. */
export function saveFile(name: string, mediaType: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser takes the bytes when the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
