/* mnist.c -- MNIST and its siblings: four IDX files in a folder. */
#include "base/text.h"
#include "data/idx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where Debian's package dataset-fashion-mnist puts them. */
#define DEBIAN_FOLDER "/usr/share/datasets/fashion-mnist"

/* What follows "train" or "t10k". Both spellings are in use; raw files come first,
 * since they are read faster. */
typedef const char *const names[4];
static names images = { "-images-idx3-ubyte", "-images.idx3-ubyte", "-images-idx3-ubyte.gz",
                        "-images.idx3-ubyte.gz" };
static names labels = { "-labels-idx1-ubyte", "-labels.idx1-ubyte", "-labels-idx1-ubyte.gz",
                        "-labels.idx1-ubyte.gz" };

/* Set *path, owned, to the first of these that is there; NULL if none is. */
static weft_status look_for(const char *folder, const char *prefix, names ending, char **path)
{
    for (int i = 0; i < 4; i++) {
        WEFT_TRY_NEW(*path = weft__text_create("%s/%s%s", folder, prefix, ending[i]));
        if (access(*path, F_OK) == 0)
            return WEFT_OK;
        weft_free(*path);
        *path = NULL;
    }
    return WEFT_OK;
}

static weft_status check_folder(const char *folder)
{
    struct stat found;
    if (folder == NULL || *folder == '\0')
        return WEFT_FAIL(WEFT_E_ARG, "the name of the folder of images is empty");
    if (stat(folder, &found) != 0)
        return WEFT_FAIL(WEFT_E_IO, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return WEFT_FAIL(WEFT_E_IO, "%s: not a folder", folder);
    return WEFT_OK;
}

/* Owned; NULL: WEFT_E_IO, WEFT_E_ARG without a name. */
static char *find(const char *folder, const char *prefix, names ending)
{
    char *path;
    if (check_folder(folder) != WEFT_OK)
        return NULL;
    if (look_for(folder, prefix, ending, &path) != WEFT_OK || path != NULL)
        return path;
    if (access(folder, X_OK) != 0)
        return WEFT_FAIL_NULL(WEFT_E_IO, "%s: %s", folder, strerror(errno));
    return WEFT_FAIL_NULL(WEFT_E_IO, "%s/%s%s: no such file, nor %s%s, nor either with .gz", folder,
                          prefix, ending[0], prefix, ending[1]);
}

/* "train" -> "train", "test" -> "t10k". */
static const char *prefix_of(const char *part)
{
    if (part == NULL)
        return WEFT_FAIL_NULL(WEFT_E_ARG, "no part of MNIST: \"train\" and \"test\" are known");
    if (strcmp(part, "train") == 0)
        return "train";
    if (strcmp(part, "test") == 0)
        return "t10k";
    return WEFT_FAIL_NULL(WEFT_E_ARG, "part \"%s\" of MNIST: \"train\" and \"test\" are known",
                          part);
}

weft_dataset *weft_mnist_open(const char *folder, const char *part, weft_dtype dtype)
{
    static const weft__idx_form form = { .rows = 28, .columns = 28, .classes = 10 };

    const char   *prefix = prefix_of(part);
    char         *x = prefix != NULL ? find(folder, prefix, images) : NULL;
    char         *t = x != NULL ? find(folder, prefix, labels) : NULL;
    weft_dataset *dataset = t != NULL ? weft__idx_open(x, t, &form, dtype) : NULL;

    weft_free(x);
    weft_free(t);
    return dataset;
}

static bool holds(const char *folder, const char *prefix, names ending)
{
    char      *path = NULL;
    const bool found = look_for(folder, prefix, ending, &path) == WEFT_OK && path != NULL;
    weft_free(path);
    return found;
}

const char *weft_mnist_folder(const char *folder)
{
    if (folder != NULL)
        return folder;
    folder = getenv("WEFT_DATA");
    if (folder != NULL)
        return *folder != '\0' ? folder : NULL;
    folder = DEBIAN_FOLDER;
    if (holds(folder, "train", images) && holds(folder, "train", labels) &&
        holds(folder, "t10k", images) && holds(folder, "t10k", labels))
        return folder;
    return NULL;
}
