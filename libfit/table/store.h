/* SPDX-License-Identifier: MIT */
/*
 * Inside of the HDF5 store, shared by store.c, store_bytes.c and store_write.c; not a public header
 * (that is table.h). The layout is in docs/man/fit-table.5, section STORES:
 *
 *   /                attribute tables: the paths of all tables in order of writing, one a line
 *   /path            group; attributes format, table (its name), rows, columns, types, meta, end_meta
 *   /path/column     1-D data set, one per column; attribute unit where one is known
 *
 * A store that we wrote ends in a seal, FIT_SEAL_SIZE bytes after the last byte of HDF5: the magic
 * FIT_SEAL_MAGIC and the content hash (32 hexadecimal digits) of all bytes before it. HDF5 programs do
 * not see it, and drop it when they change the file. A sealed store whose bytes do not match is
 * refused before HDF5, which does not survive every damaged file, looks at it.
 */
#ifndef FIT_TABLE_STORE_H
#define FIT_TABLE_STORE_H

#include <hdf5.h>

#include "libfit/table/table.h"

#define FIT_STORE_FORMAT "fit-table/1"
#define FIT_SEAL_MAGIC "\ngoodfit-store/1\n"
#define FIT_SEAL_MAGIC_SIZE (sizeof FIT_SEAL_MAGIC - 1)
#define FIT_SEAL_SIZE (FIT_SEAL_MAGIC_SIZE + FIT_HASH_HEX - 1)
#define FIT_STORE_DEPTH 16		/* components of a path */
#define FIT_STORE_PATH_MAX 1024		/* bytes of a path */
/* An attribute holds less than 64 KiB: long texts go on in NAME.1, NAME.2, … */
#define FIT_ATTR_MAX 60000

/* HDF5's own messages off, and on again as they were. */
struct fit_h5_quiet {
	H5E_auto2_t func;
	void *data;
};
void fit_h5_quiet_begin(struct fit_h5_quiet *q);
void fit_h5_quiet_end(const struct fit_h5_quiet *q);

/* A store in memory, opened. */
struct fit_store_image {
	const char *name;		/* of the file, for messages; borrowed */
	unsigned char *bytes;
	size_t n;			/* of HDF5; the seal is not counted */
	bool sealed;
	char hash[FIT_HASH_HEX];	/* of these n bytes */
	hid_t file;
};

/* Read a file into memory, check its size, signature and seal. FIT_EIO or FIT_EPARSE. The image is
 * not opened as HDF5 yet. Always release it. */
int fit_store_load(struct fit_store_image *im, const char *file, struct fit_err *err) FIT_MUST_CHECK;
/* The same with bytes that are handed over (malloc'ed; freed by release, also after a failure). */
int fit_store_load_bytes(struct fit_store_image *im, const char *name, unsigned char *bytes, size_t n,
			 struct fit_err *err) FIT_MUST_CHECK;
/* Open what was loaded. A file without a seal is read in a child process first, because a damaged one
 * may kill HDF5 1.10; FIT_EPARSE then. */
int fit_store_open(struct fit_store_image *im, struct fit_err *err) FIT_MUST_CHECK;
void fit_store_release(struct fit_store_image *im);

/* Append the seal's bytes for the first n bytes to out. FIT_ENOMEM. */
int fit_store_seal(const unsigned char *bytes, size_t n, char out[FIT_SEAL_SIZE]) FIT_MUST_CHECK;

/* An advisory lock that writers of one store hold while they copy, change and rename: FILE.lock,
 * removed when it is given back. Waits. */
struct fit_store_lock {
	int fd;
	char *path;
};
int fit_store_lock(struct fit_store_lock *lock, const char *file, struct fit_err *err) FIT_MUST_CHECK;
void fit_store_unlock(struct fit_store_lock *lock);
/* Write bytes and their seal under a temporary name and rename them to file. */
int fit_store_save(const char *file, const unsigned char *bytes, size_t n,
		   struct fit_err *err) FIT_MUST_CHECK;

/* The paths of all tables of an open image: in order of writing where it is sealed, else sorted. */
struct fit_store_paths {
	char **p;
	size_t n, cap;
};
int fit_store_paths(const struct fit_store_image *im, struct fit_store_paths *list,
		    struct fit_err *err) FIT_MUST_CHECK;
void fit_store_paths_release(struct fit_store_paths *list);

/* Read one table of an open image. As fit_store_read(), but one request. */
int fit_store_read_table(const struct fit_store_image *im, const struct fit_store_request *req,
			 struct fit_err *err) FIT_MUST_CHECK;

/* A column's name as the name of a data set: '/', '%', a '.' in front and bytes below 0x20 as %XX.
 * Appended to out. */
int fit_store_link_name(struct fit_str *out, const char *column) FIT_MUST_CHECK;

#endif
