// SPDX-License-Identifier: Apache-2.0
/*
 * A C++ program that profiles itself.  The classes Profile and Label are for copying.
 *
 *	c++ -O2 -g -fno-omit-frame-pointer -o profile-yourself profile-yourself.cc \
 *		$(pkg-config --cflags --libs pmukit)
 *	./profile-yourself profile.pb.gz
 *	go tool pprof -top profile.pb.gz
 */
#include <pmukit.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

// What pmukit_error() says, and its code.
class ProfileError : public std::runtime_error {
public:
	ProfileError() : std::runtime_error(pmukit_error()), code(pmukit_error_code()) {}
	const int code;
};

// A profile of this program, from the constructor to stop().  Without stop(), as when an exception
// is thrown, nothing is written.
class Profile {
public:
	explicit Profile(const std::string &file, unsigned int flags = PMUKIT_NO_KERNEL)
		: fd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666))
	{
		if (fd < 0)
			throw std::system_error(errno, std::generic_category(), file);
		pmukit_profile_config config{};
		config.size = sizeof(config);
		config.frequency = 999;
		config.flags = flags;
		config.fd = fd;
		handle = pmukit_profile_start(&config);
		if (!handle) {
			close(fd);
			throw ProfileError();
		}
	}
	Profile(const Profile &) = delete;
	Profile &operator=(const Profile &) = delete;
	~Profile()
	{
		pmukit_profile_cancel(handle);
		close(fd);
	}

	void stop()
	{
		pmukit_profile *ended = handle;

		handle = nullptr;
		if (pmukit_profile_stop(ended) < 0)
			throw ProfileError();
	}

private:
	int fd;
	pmukit_profile *handle = nullptr;
};

// A label of this thread, for as long as the object lives.
class Label {
public:
	Label(const std::string &key, const std::string &value) : key(key)
	{
		pmukit_label_set(key.c_str(), value.c_str());
	}
	Label(const Label &) = delete;
	Label &operator=(const Label &) = delete;
	~Label() { pmukit_label_set(key.c_str(), nullptr); }

private:
	const std::string key;
};

// The work: two functions, which take different times.

static std::uint64_t sum;

__attribute__((noinline)) static void add_squares()
{
	const Label label("phase", "squares");

	for (std::uint64_t i = 0; i < 1000000; i++)
		sum += i * i ^ sum >> 3;
}

__attribute__((noinline)) static void divide()
{
	const Label label("phase", "divisions");

	for (std::uint64_t i = 1; i < 300000; i++)
		sum += (sum | 1ull << 63) / i % 7;
}

// Call WORK and return the CPU time that it took, in seconds.
static double measured(void (*work)())
{
	const std::clock_t start = std::clock();

	work();
	return double(std::clock() - start) / CLOCKS_PER_SEC;
}

static void do_the_work()
{
	double squares = 0, divisions = 0;

	while (squares + divisions < 0.5) {
		squares += measured(add_squares);
		divisions += measured(divide);
	}
	std::printf("add_squares %.3f\ndivide %.3f\n", squares, divisions);
}

static void profile_the_work(const std::string &file, unsigned int flags)
{
	Profile profile(file, flags);

	do_the_work();
	profile.stop();
}

int main(int argc, char **argv)
try {
	const std::string file = argc > 1 ? argv[1] : "profile.pb.gz";

	try {
		profile_the_work(file, PMUKIT_NO_KERNEL | PMUKIT_LABELS);
	} catch (const ProfileError &error) {
		if (error.code != PMUKIT_NO_RIGHTS)
			throw;
		std::fprintf(stderr, "without labels: %s\n", error.what());
		profile_the_work(file, PMUKIT_NO_KERNEL);
	}
} catch (const std::exception &error) {
	std::fprintf(stderr, "%s\n", error.what());
	return 1;
}
